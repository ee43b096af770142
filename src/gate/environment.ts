/** Names and values of a process environment, without a prototype: every name is data. */
export type Environment = Record<string, string>

export function emptyEnvironment(): Environment {
  return Object.create(null)
}

/** A copy without the names that have no value, as `process.env` types them. */
export function environmentOf(variables: Readonly<Record<string, string | undefined>>): Environment {
  const environment = emptyEnvironment()
  for (const [name, value] of Object.entries(variables)) {
    if (value !== undefined) environment[name] = value
  }
  return environment
}
