/** Somebody who stays connected: a socket, or a stream over HTTP. */
export interface Client {
  credentialId: string
  /** Whether its credential would still be taken. */
  stillGood(): Promise<boolean>
  /** Ends the connection because the credential is no longer good. */
  end(): void
}

export interface Clients {
  /** @returns the function that takes it out again. */
  add(client: Client): () => void
  /** Ends what a credential opened, at once. */
  endOf(credentialId: string): void
  stop(): void
}

/**
 * Whoever is connected was let in by a credential that may end meanwhile. A revocation is told by the timeline; that a key
 * expires or a browser signs out is found by asking again now and then.
 */
export function watchClients(options: { checkEveryMs: number; onError: (error: unknown) => void }): Clients {
  const clients = new Set<Client>()
  let checking = false

  async function check(): Promise<void> {
    if (checking) return
    checking = true
    try {
      for (const client of clients) if (!(await client.stillGood())) client.end()
    } catch (error) {
      // While nobody can be asked, nobody is sent away.
      options.onError(error)
    } finally {
      checking = false
    }
  }
  const timer = setInterval(() => void check(), options.checkEveryMs)
  timer.unref()

  return {
    add(client) {
      clients.add(client)
      return () => clients.delete(client)
    },
    endOf(credentialId) {
      for (const client of clients) if (client.credentialId === credentialId) client.end()
    },
    stop() {
      clearInterval(timer)
    },
  }
}
