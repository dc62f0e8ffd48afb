/**
 * The thread of the demo's issuer: oidc-provider, and a page with the two people.
 * @module
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { parentPort, workerData } from 'node:worker_threads'
import type { Context, Provider } from 'oidc-provider'

/** Names of the people, by their `sub`. */
const PEOPLE: Readonly<Record<string, string>> = { alice: 'Alice Adams', bob: 'Bob Brown' }
/** Path of the page where a person is chosen; a cookie says for which login. */
const PAGE = '/people/'
const { host: HOST, clientId: CLIENT_ID }: { host: string; clientId: string } = workerData
const SCOPES = 'openid profile offline_access'

async function openProvider(url: string): Promise<Provider> {
  const { interactionPolicy, Provider } = await import('oidc-provider')
  const { base, Check } = interactionPolicy
  const policy = base()
  const isChosen = ({ oidc: { result } }: Context): boolean =>
    result?.login === undefined ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT
  // A visitor can be another person with each login.
  policy.get('login').checks.add(new Check('choose', 'a person is chosen each time', isChosen))
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { host } = new URL(url)
  // Of loopback addresses, the provider takes any port.
  const pages = ['127.0.0.1', 'localhost'].map(
    (name) => `http://${name}/?${new URLSearchParams({ from: host })}`,
  )
  return new Provider(url, {
    clients: [
      {
        client_id: CLIENT_ID,
        token_endpoint_auth_method: 'none',
        application_type: 'native',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        redirect_uris: ['http://127.0.0.1/callback', ...pages],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    clientBasedCORS: () => true,
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' }] },
    cookies: { keys: [randomUUID()] },
    features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
    interactions: { policy, url: () => PAGE },
    claims: { openid: ['sub'], profile: ['name'] },
    scopes: SCOPES.split(' '),
    conformIdTokenClaims: false,
    ttl: { AccessToken: 60, IdToken: 3600, RefreshToken: 86_400, Grant: 86_400, Session: 3600 },
    findAccount: (_: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, name: PEOPLE[accountId] }),
    }),
    // Nobody is asked what the client may do: it is the only one.
    loadExistingGrant: async ({ oidc: { provider, client, session } }: Context) => {
      const { clientId } = client
      const grant = new provider.Grant({ clientId, accountId: session.accountId })
      grant.addOIDCScope(SCOPES)
      await grant.save()
      return grant
    },
  })
}

/** Shows who there is; the form has who was chosen. */
async function answerPage(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const { prompt } = await provider.interactionDetails(request, response)
    const sub = new URLSearchParams(await text(request)).get('person') ?? ''
    if (prompt.name === 'consent' || sub in PEOPLE) {
      const login = sub in PEOPLE ? { login: { accountId: sub, remember: false } } : {}
      await provider.interactionFinished(request, response, { ...login, consent: {} })
      return
    }
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(HTML)
  } catch {
    response.writeHead(400, { 'content-type': 'text/plain' }).end('This login has ended.\n')
  }
}

const BUTTONS = Object.entries(PEOPLE).map(
  ([sub, name]) => `<button name="person" value="${sub}">${name}</button>`,
)
const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Demo issuer</title>
<style>
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 22rem; margin: 15vh auto; padding: 0 1rem }
h1 { font-size: 1.3rem }
form { display: grid; gap: .6rem }
button { font: inherit; font-weight: 600; min-height: 2.75rem; cursor: pointer }
</style>
<body>
<h1>Who are you?</h1>
<p>The demo of kubedoh has two people. Neither has a password.</p>
<form method="post">${BUTTONS.join('')}</form>
</body>
</html>
`

let loading: Promise<Provider> | undefined
const load = (): Promise<Provider> => {
  loading ??= openProvider(url)
  return loading
}
const server = createServer((request, response) => {
  void load().then((provider) => {
    if (request.url === PAGE) return answerPage(provider, request, response)
    return provider.callback()(request, response)
  })
})
server.listen(0, HOST)
await once(server, 'listening')
const address = server.address()
const url = `http://${HOST}:${typeof address === 'object' ? address?.port : 0}`
parentPort?.on('message', () => void load())
parentPort?.postMessage(url)
