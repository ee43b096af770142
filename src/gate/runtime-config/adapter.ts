import type { ConfigFormat } from './config-document.ts'
import type { Path, Table } from './parsed-document.ts'

/** Where one runtime keeps what in its MCP config. Data only: `rewrite.ts` is the same for all of them. */
export interface RuntimeAdapter {
  /** For warnings. */
  name: string
  format: ConfigFormat
  /** The table of servers, by name. */
  servers: Path
  /** A second look at the servers table, for a runtime whose config has two forms. */
  recognises?: (servers: Table) => boolean
  /** The table of environment variables within a server's entry. */
  env: string
  /**
   * How `command` is written: a program with `args` beside it, or one list of both. An entry whose `command` has
   * another form is not one that the runtime starts.
   */
  command: 'string' | 'array'
  /** The limit of a single tool call within a server's entry; null where the runtime has none that we know. */
  toolTimeout: { path: Path; unitMs: 1 | 1000 } | null
  /** A list of names to forward from the runtime's own environment: strings, or tables with a `name`. */
  forwarding?: string
  /** What the runtime will ignore in an entry that is left alone, with the way out. */
  entryWarning?: (serverName: string, entry: Table) => string | null
}
