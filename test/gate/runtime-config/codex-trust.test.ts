import { describe, expect, it } from 'vitest'
import { codexTrustWarning, isCodexProjectTrusted } from '../../../src/gate/runtime-config/codex-trust.ts'

const home = `
model = "gpt-x"
[projects."/srv/shop"]
trust_level = "trusted"
[projects."/srv/shop/vendor"]
trust_level = "untrusted"
[projects.'/srv/"odd"']
trust_level = "trusted"
[projects."/srv/silent"]
`

describe('Codex trusts a project', () => {
  it('that its home config names by the exact path', () => {
    expect(isCodexProjectTrusted({ homeConfigText: home, projectDirectory: '/srv/shop' })).toBe(true)
    expect(isCodexProjectTrusted({ homeConfigText: home, projectDirectory: '/srv/"odd"' })).toBe(true)
    expect(codexTrustWarning({ homeConfigText: home, projectDirectory: '/srv/shop' })).toBeNull()
  })

  it('whose repository it names', () => {
    expect(
      isCodexProjectTrusted({
        homeConfigText: home,
        projectDirectory: '/srv/shop/api',
        roots: ['/srv/shop'],
      }),
    ).toBe(true)
    expect(
      isCodexProjectTrusted({
        homeConfigText: home,
        projectDirectory: '/t/api',
        roots: ['/t', '/srv/shop'],
      }),
    ).toBe(true)
    expect(
      isCodexProjectTrusted({
        homeConfigText: home,
        projectDirectory: '/srv/silent',
        roots: ['/srv/shop'],
      }),
    ).toBe(true)
  })

  it.each([
    ['that it does not name', { homeConfigText: home, projectDirectory: '/srv/other' }],
    [
      'below a trusted folder that is not its repository',
      { homeConfigText: home, projectDirectory: '/srv/shop/api' },
    ],
    [
      'that it distrusts inside a trusted one',
      { homeConfigText: home, projectDirectory: '/srv/shop/vendor', roots: ['/srv/shop'] },
    ],
    ['that it names without a level', { homeConfigText: home, projectDirectory: '/srv/silent' }],
    ['when there is no home config', { homeConfigText: null, projectDirectory: '/srv/shop' }],
    ['when the home config is empty', { homeConfigText: '', projectDirectory: '/srv/shop' }],
    [
      'when the home config cannot be read',
      { homeConfigText: `${home}\n[broken`, projectDirectory: '/srv/shop' },
    ],
    ['when projects is not a table', { homeConfigText: 'projects = 1', projectDirectory: '/srv/shop' }],
    ['of a name that objects have', { homeConfigText: home, projectDirectory: 'constructor' }],
  ])('but not one %s', (_, project) => {
    expect(isCodexProjectTrusted(project)).toBe(false)
  })

  it('and else the warning names every way out, ready to paste', () => {
    const warning = codexTrustWarning({
      homeConfigText: null,
      projectDirectory: '/srv/"a"/b',
      roots: ['/srv/"a"'],
    })
    expect(warning).toContain('codex exec --trust')
    expect(warning).toContain(String.raw`[projects."/srv/\"a\""] with trust_level = "trusted"`)
    expect(warning).toContain('CODEX_HOME of this session')
  })
})
