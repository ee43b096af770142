import { Client, cacheExchange, fetchExchange } from 'urql'

/**
 * The GraphQL client of the page. `onSignedOut` is called whenever the server says that nobody is signed in: a cookie that
 * ended, a key that was revoked.
 */
export function createGraphqlClient(options: { onSignedOut: () => void }): Client {
  return new Client({
    url: '/graphql',
    preferGetMethod: false,
    exchanges: [cacheExchange, fetchExchange],
    fetchOptions: { credentials: 'same-origin', headers: { accept: 'application/json' } },
    fetch: async (input, init) => {
      const response = await fetch(input, { ...init, signal: init?.signal ?? AbortSignal.timeout(20_000) })
      if (response.status === 401) options.onSignedOut()
      return response
    },
  })
}
