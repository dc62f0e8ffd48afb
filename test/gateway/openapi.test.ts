/**
 * The description that a gateway serves at `/openapi.json`: it is valid, has the routes of the
 * code, and what they respond fits it.
 */
import assert from 'node:assert/strict'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, test } from 'vitest'
import { isRecord, listOf, recordOf, textOf } from '../../src/dns/bytes/unknown.ts'
import { hashToken } from '../../src/gateway/access/token.ts'
import { OPENAPI } from '../../src/gateway/built/assets.js'
import { queryWith } from '../server/clients.ts'
import { CLIENT_TOKEN, clientSha256, EXPORTER_TOKEN, Running } from './running.ts'
import { tokenRecord } from './tokens.ts'

type Part = Readonly<Record<string, unknown>>

const DOCUMENT: Part = recordOf(JSON.parse(OPENAPI))
const METHODS = ['get', 'put', 'post', 'delete', 'options']
/** Only the gateway on Node has it, before its app. */
const BEFORE_THE_APP = 'get /ready'
const NAME = 'web.shop.svc.shop.example.org'

/** An operation, and where its responses are in the document. */
type Operation = { name: string; path: string; method: string; item: Part; operation: Part }

const OPERATIONS: readonly Operation[] = Object.entries(recordOf(DOCUMENT.paths)).flatMap(
  ([path, value]) => {
    const item = recordOf(value)
    return METHODS.filter((method) => method in item).map((method) => {
      const operation = recordOf(item[method])
      return { name: `${method} ${path}`, path, method, item, operation }
    })
  },
)

/** What fails here, as described: no issuer, no store, no signature, or a cluster of `CLUSTERS`. */
const FAILING: readonly string[] = [
  'get /v1/login',
  'post /v1/token',
  'get /v1/audit',
  'post /v1/backup',
  'post /v1/tokens/restore',
  'put /v1/clusters/{id}',
  'delete /v1/clusters/{id}',
  'put /v1/clusters/{id}/issuers',
  'post /v1/clusters/{id}/keys',
  'delete /v1/clusters/{id}/keys/{key}',
  'put /v1/clusters/{id}/publication',
  'put /v1/clusters/{id}/manifest',
  'get /v1/clusters/{id}/shards/{sha256}',
  'put /v1/clusters/{id}/shards/{sha256}',
]

/** Parameters that routes read, as docs/http-api.md has them, where no example sends them. */
const QUESTION = 'cd ct do edns_client_subnet name type'
const CHANGE = 'if-none-match prefer'
const PUBLICATION = 'if-match if-none-match kubedoh-signature'
const PARAMETERS: Readonly<Record<string, string>> = {
  'get /dns-query': 'cd ct dns do edns_client_subnet name type',
  'get /resolve': QUESTION,
  'get /v1/explain': 'as cd do edns_client_subnet name type',
  'get /v1/token-list': CHANGE,
  'get /v1/clusters/{id}/manifest': CHANGE,
  'put /v1/clusters/{id}/manifest': PUBLICATION,
  'put /v1/clusters/{id}/publication': PUBLICATION,
  'get /v1/clusters/{id}/shards/{sha256}': '',
  'put /v1/clusters/{id}/shards/{sha256}': '',
}
/** Whole numbers of a query, and the parameters without which a route ignores them. */
const NUMBERS: readonly { name: string; number: string; beside: string }[] = [
  { name: 'get /v1/names', number: 'limit', beside: 'under=shop.example.org' },
  { name: 'post /v1/tokens/{id}/rotate', number: 'graceSeconds', beside: '' },
]

/** Follows a reference within the document. */
function resolved(value: unknown): Part {
  const part = recordOf(value)
  if (typeof part.$ref !== 'string') return part
  const found = part.$ref
    .slice(2)
    .split('/')
    .reduce<unknown>((at, key) => recordOf(at)[key], DOCUMENT)
  assert.ok(isRecord(found), part.$ref)
  return found
}

/** Returns the path and query of an operation, with the examples of its parameters. */
function targetOf({ path, item, operation }: Operation): string {
  const query = new URLSearchParams()
  let target = path.replace('{token}', CLIENT_TOKEN)
  for (const one of [...listOf(item.parameters), ...listOf(operation.parameters)]) {
    const { name, in: place, example } = resolved(one)
    if (example === undefined) continue
    if (place === 'path') target = target.replace(`{${textOf(name)}}`, String(example))
    else query.set(textOf(name), String(example))
  }
  return query.size === 0 ? target : `${target}?${query}`
}

function tokenOf({ path, operation }: Operation): string | undefined {
  const [scheme] = Object.keys(recordOf(listOf(operation.security)[0]))
  if (Array.isArray(operation.security)) {
    return scheme === 'exporter' ? EXPORTER_TOKEN : scheme === 'replica' ? 'replica' : undefined
  }
  if (path.startsWith('/t/')) return undefined
  return /^\/(v1|metrics|readyz)/.test(path) ? 'admin' : CLIENT_TOKEN
}

/** Returns the body of an operation, and its type. */
function bodyOf({ operation }: Operation): { type?: string; body?: string | Buffer } {
  const [entry] = Object.entries(recordOf(recordOf(operation.requestBody).content))
  if (entry === undefined) return {}
  const [type, { example }] = [entry[0], recordOf(entry[1])]
  if (type === 'application/dns-message') return { type, body: Buffer.from(queryWith(0, NAME)) }
  if (type === 'application/json') return { type, body: JSON.stringify(example) }
  return { type, body: typeof example === 'string' ? example : 'x' }
}

async function open(): Promise<Running> {
  const running = await Running.start({
    CLIENT_TOKEN_SHA256: clientSha256,
    ADMIN_TOKEN_SHA256: await hashToken('admin'),
    REPLICA_TOKEN_SHA256: await hashToken('replica'),
    REQUESTS_PER_MINUTE: '0',
    CLIENT_TOKEN_CLUSTERS: '*',
  })
  running.exporter(running.host.now)
  await running.publish()
  const { record } = await tokenRecord()
  await running.tokens.add({ ...record, id: '0123456789ab' })
  return running
}

function send(running: Running, one: Operation, token = tokenOf(one)): Promise<Response> {
  const { type, body } = bodyOf(one)
  return Promise.resolve(
    running.app.request(`https://dns.example.org${targetOf(one)}`, {
      method: one.method.toUpperCase(),
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(type !== undefined && { 'content-type': type }),
      },
      ...(body !== undefined && { body }),
    }),
  )
}

const ajv = new Ajv2020({ strict: false })
ajv.addSchema(DOCUMENT, 'api')

/** Checks status, type and body of a response against the description. */
async function check({ name, operation }: Operation, response: Response): Promise<void> {
  const responses = recordOf(operation.responses)
  const key = [String(response.status), `${Math.floor(response.status / 100)}XX`].find(
    (status) => status in responses,
  )
  const text = await response.text()
  assert.ok(key !== undefined, `${name} has status ${response.status}: ${text}`)
  const content = recordOf(resolved(responses[key]).content)
  const type = (response.headers.get('content-type') ?? '').replace(/;.*/, '')
  if (Object.keys(content).length === 0) {
    assert.equal(text, '', name)
    return
  }
  const media = recordOf(content[type] ?? content['*/*'])
  assert.ok('schema' in media, `${name}: ${response.status} has the type ${type}`)
  if (!/json$/.test(type)) return
  const validate = ajv.compile(withRefs(media.schema))
  assert.ok(validate(JSON.parse(text)), `${name}: ${ajv.errorsText(validate.errors)} in ${text}`)
}

/** Has references of a schema lead into the document. */
function withRefs(schema: unknown): Part {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/'))
}

describe('/openapi.json', () => {
  test('is served to everybody, and is valid OpenAPI 3.1', async () => {
    const running = await open()
    const response = await running.get('/openapi.json')
    assert.equal(response.headers.get('content-type'), 'application/json')
    const { valid, errors } = await new Validator().validate({ ...recordOf(await response.json()) })
    assert.ok(valid, JSON.stringify(errors))
  })

  test('has each route of the gateway, and no other', async () => {
    const { app } = await open()
    const routes = app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, '{$1}')}`)
    assert.deepEqual(
      OPERATIONS.map(({ name }) => name).sort(),
      [...new Set(routes), BEFORE_THE_APP].sort(),
    )
  })

  const find = (wanted: string): Operation =>
    OPERATIONS.find(({ name }) => name === wanted) ?? assert.fail(wanted)

  test('has the parameters that routes read', () => {
    for (const [name, expected] of Object.entries(PARAMETERS)) {
      const own = listOf(find(name).operation.parameters).map((one) => textOf(resolved(one).name))
      assert.equal(own.sort().join(' '), expected, name)
    }
  })

  for (const { name, number, beside } of NUMBERS) {
    test(`has the bounds of ${number} in ${name}`, async () => {
      const running = await open()
      const one = find(name)
      const parameter = listOf(one.operation.parameters).map(resolved)
      const { schema } = parameter.find((some) => some.name === number) ?? assert.fail(number)
      const { minimum, maximum } = recordOf(schema)
      const taken = async (value: number): Promise<boolean> => {
        const url = `https://dns.example.org${targetOf(one)}?${number}=${value}&${beside}`
        const headers = { authorization: 'Bearer admin' }
        const method = one.method.toUpperCase()
        return (await running.app.request(url, { method, headers })).ok
      }
      const [least, most] = [Number(minimum), Number(maximum)]
      const all = await Promise.all([least - 1, least, most, most + 1].map(taken))
      assert.deepEqual(all, [false, true, true, false])
    })
  }

  test('has the values of a token request', async () => {
    const running = await open()
    const one = find('post /v1/tokens')
    const content = recordOf(recordOf(one.operation.requestBody).content)
    const properties = recordOf(recordOf(recordOf(content['application/json']).schema).properties)
    const { minimum, maximum } = recordOf(properties.expiresInSeconds)
    const [least, most] = [Number(minimum), Number(maximum)]
    const statusOf = async (fields: Part): Promise<number> => {
      const headers = { authorization: 'Bearer admin' }
      const request = { method: 'POST', headers, body: JSON.stringify(fields) }
      return (await running.app.request('https://dns.example.org/v1/tokens', request)).status
    }
    for (const role of listOf(recordOf(properties.role).enum)) {
      assert.equal(await statusOf({ role }), 201, String(role))
    }
    const lives = [least - 1, least, most, most + 1]
    const statuses = await Promise.all(lives.map((one) => statusOf({ expiresInSeconds: one })))
    assert.deepEqual(statuses, [400, 201, 201, 400])
  })

  const inTheApp = OPERATIONS.filter(({ name }) => name !== BEFORE_THE_APP)
  for (const one of inTheApp) {
    test(`describes the responses of ${one.name}`, async () => {
      const running = await open()
      const response = await send(running, one)
      assert.equal(response.ok, !FAILING.includes(one.name), `${response.status}`)
      await check(one, response)
      await check(one, await send(running, one, 'nobody'))
    })
  }
})
