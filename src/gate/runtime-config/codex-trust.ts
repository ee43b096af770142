import { openDocument } from './config-document.ts'
import { own, tableAt } from './parsed-document.ts'

export interface CodexProject {
  /** The text of `$CODEX_HOME/config.toml`; null when there is no such file. */
  homeConfigText: string | null
  /** Absolute path of the folder that holds `.codex/`, with symbolic links resolved. */
  projectDirectory: string
  /** The roots whose trust counts too: of its checkout and, for a linked git work tree, of the main one. */
  roots?: readonly string[]
}

/**
 * Whether Codex will read `<project>/.codex/config.toml`. It does so only for a project that the home config trusts,
 * by the exact path of the folder or else of a root; there is no inheritance from other parents, the first path that
 * is named decides, and bypass flags do not help (Codex 0.171, measured and read). An unreadable home config trusts
 * nobody: Codex does not start on it.
 */
export function isCodexProjectTrusted(project: CodexProject): boolean {
  const opened = openDocument('TOML', project.homeConfigText ?? '')
  if (!opened.ok) return false
  const projects = tableAt(opened.document.value, ['projects'])
  for (const directory of [project.projectDirectory, ...(project.roots ?? [])]) {
    const level = own(own(projects, directory), 'trust_level')
    if (level !== undefined) return level === 'trusted'
  }
  return false
}

/** The warning for a project config that Codex will not read, with the ways out; null when it will. */
export function codexTrustWarning(project: CodexProject): string | null {
  if (isCodexProjectTrusted(project)) return null
  const directory = project.roots?.at(-1) ?? project.projectDirectory
  // JSON's escapes are TOML's, so this can be pasted as it is.
  const table = `[projects.${JSON.stringify(directory)}]`
  return (
    `Codex does not trust ${directory} and will ignore its .codex/config.toml, MCP servers and gate included, with ` +
    `one line on stderr. Run \`codex exec --trust\` there once, or add ${table} with trust_level = "trusted" to ` +
    '$CODEX_HOME/config.toml, or put the servers into a CODEX_HOME of this session.'
  )
}
