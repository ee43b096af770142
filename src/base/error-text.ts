/** What a person is told of something that was thrown, which may be anything. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
