import { describe, expect, it } from 'vitest'
import { codexTrustWarning, isCodexProjectTrusted } from '../../../src/gate/runtime-config/codex-trust.ts'

const home = `
model = "gpt-x"
[projects."/work/shop"]
trust_level = "trusted"
[projects."/work/shop/vendor"]
trust_level = "untrusted"
[projects.'/work/"odd"']
trust_level = "trusted"
[projects."/work/silent"]
`

describe('Codex trusts a project', () => {
  it('that its home config names by the exact path', () => {
    expect(isCodexProjectTrusted({ homeConfigText: home, projectDirectory: '/work/shop' })).toBe(true)
    expect(isCodexProjectTrusted({ homeConfigText: home, projectDirectory: '/work/"odd"' })).toBe(true)
    expect(codexTrustWarning({ homeConfigText: home, projectDirectory: '/work/shop' })).toBeNull()
  })

  it('whose repository it names', () => {
    expect(
      isCodexProjectTrusted({
        homeConfigText: home,
        projectDirectory: '/work/shop/api',
        roots: ['/work/shop'],
      }),
    ).toBe(true)
    expect(
      isCodexProjectTrusted({
        homeConfigText: home,
        projectDirectory: '/t/api',
        roots: ['/t', '/work/shop'],
      }),
    ).toBe(true)
    expect(
      isCodexProjectTrusted({
        homeConfigText: home,
        projectDirectory: '/work/silent',
        roots: ['/work/shop'],
      }),
    ).toBe(true)
  })

  it.each([
    ['that it does not name', { homeConfigText: home, projectDirectory: '/work/other' }],
    [
      'below a trusted folder that is not its repository',
      { homeConfigText: home, projectDirectory: '/work/shop/api' },
    ],
    [
      'that it distrusts inside a trusted one',
      { homeConfigText: home, projectDirectory: '/work/shop/vendor', roots: ['/work/shop'] },
    ],
    ['that it names without a level', { homeConfigText: home, projectDirectory: '/work/silent' }],
    ['when there is no home config', { homeConfigText: null, projectDirectory: '/work/shop' }],
    ['when the home config is empty', { homeConfigText: '', projectDirectory: '/work/shop' }],
    [
      'when the home config cannot be read',
      { homeConfigText: `${home}\n[broken`, projectDirectory: '/work/shop' },
    ],
    ['when projects is not a table', { homeConfigText: 'projects = 1', projectDirectory: '/work/shop' }],
    ['of a name that objects have', { homeConfigText: home, projectDirectory: 'constructor' }],
  ])('but not one %s', (_, project) => {
    expect(isCodexProjectTrusted(project)).toBe(false)
  })

  it('and else the warning names every way out, ready to paste', () => {
    const warning = codexTrustWarning({
      homeConfigText: null,
      projectDirectory: '/work/"a"/b',
      roots: ['/work/"a"'],
    })
    expect(warning).toContain('codex exec --trust')
    expect(warning).toContain(String.raw`[projects."/work/\"a\""] with trust_level = "trusted"`)
    expect(warning).toContain('CODEX_HOME of this session')
  })
})
