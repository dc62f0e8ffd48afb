import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hono } from 'hono'
import { describe, type TestContext, test } from 'vitest'
import { loadExportDirectives } from '../../../src/cli/export/export-directive.ts'
import { createMiniK8sApp, miniK8sPlace } from '../../../src/cli/export/export-mini-k8s.ts'
import { MiniK8sObjects } from '../../../src/cli/export/mini-k8s-objects.ts'
import { Input } from '../../../src/cli/flags/flags.ts'
import { readObjectFiles } from '../../../src/cluster/api/object-files.ts'
import { createObjectSource } from '../../../src/cluster/follow/export-source.ts'
import { namingOptions, publishedTrees } from '../../../src/cluster/follow/naming.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'

const COREFILE = `. {
  kubernetes cluster.local
  k8s_gateway node1.com {
    resources HostRoute
    recordZones default node1.com
    router 192.168.1.13
  }
}
`
const PATHS = [{ address: '10.1.1.10', service: 'service1', port: 8010 }]
const DNS = { kind: 'DNS', apiVersion: 'v1', name: 'dns-test1', host: 'node1.com', paths: PATHS }
const { kind, apiVersion, name: NAME, ...REST } = DNS
const STORED = { kind, apiVersion, name: NAME, namespace: 'default', ...REST }
const TOKEN = 'a-token-of-16-ch'
const LIST = '/api/v1/namespaces/default/dnsrecords'
const ONE = `${LIST}/dns-test1`

/** An app, what it publishes, and its file. */
type Served = {
  readonly send: (method: string, path: string, body?: unknown, headers?: object) => Promise<string>
  readonly app: Hono
  readonly records: () => number
  readonly file: string
  readonly changes: () => number
}

function serve(
  t: TestContext,
  token = '',
  corefile = COREFILE,
  items: readonly object[] = [],
): Served {
  const folder = temporaryFolder(t, {
    Corefile: corefile,
    'objects/mini-k8s.json': JSON.stringify({ items }),
    'objects/other.yaml': `kind: DNS\nname: other\nhost: other.node1.com\npaths: [{ service: a, port: 80 }]\n`,
  })
  const { directive, trees } = loadExportDirectives(join(folder, 'Corefile'))
  const naming = namingOptions(directive, [])
  const others = publishedTrees(directive, { localAddresses: [], cluster: 'a', trees })
  const { objects } = readObjectFiles([join(folder, 'objects')])
  const onWarning = (): void => undefined
  const source = createObjectSource(objects, { naming, trees: others, onWarning, now: Date.now })
  const file = join(folder, 'objects/mini-k8s.json')
  let changes = 0
  const onChange = (): void => void changes++
  const app: Hono = createMiniK8sApp(new MiniK8sObjects({ file, objects, source, onChange }), token)
  return {
    app,
    file,
    changes: () => changes,
    records: () =>
      Object.values(source.build().trees ?? {}).reduce((sum, { records }) => sum + records, 0),
    send: async (method, path, body, headers = {}) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      const init = {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: text }),
      }
      const url = path.startsWith('/') ? `http://127.0.0.1:8080${path}` : path
      const response = await app.request(url, init)
      const found = await response.json()
      const { error } = Object(found)
      return `${response.status} ${error ? `${error.code}: ${error.message}` : JSON.stringify(found)}`
    },
  }
}

describe('the REST paths of mini-k8s', () => {
  test('create, read, list, update and delete an object, and keep it in the file', async (t) => {
    const { send, records, file, changes } = serve(t)
    const others = records()
    assert.equal(await send('GET', LIST), '200 []')
    assert.equal(await send('POST', LIST, DNS), `200 ${JSON.stringify(STORED)}`)
    assert.ok(records() > others)
    assert.equal(await send('GET', ONE), `200 ${JSON.stringify(STORED)}`)
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { items: [STORED] })
    assert.deepEqual(readdirSync(join(file, '..')), ['mini-k8s.json', 'other.yaml'])
    const { name: _, ...changed } = { ...STORED, kind: 'dnsrecord', host: 'a.node1.com' }
    assert.match(await send('POST', `${ONE}/update`, changed), /^200 .*a\.node1\.com/)
    assert.match(await send('GET', LIST), /^200 \[\{.*a\.node1\.com.*\}\]$/)
    assert.equal(await send('GET', '/api/v1/namespaces/shop/dnsrecords'), '200 []')
    assert.equal(await send('DELETE', ONE), '200 {"message":"deleted"}')
    assert.deepEqual([records(), changes()], [others, 3])
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { items: [] })
    for (const method of ['GET', 'DELETE']) {
      assert.equal(await send(method, ONE), '404 not_found: There is no such DNS object')
    }
  })

  const bad: readonly (readonly [string, unknown, RegExp])[] = [
    ['no JSON', '{', /^400 bad_json: The body is not a JSON object$/],
    ['a list', [DNS], /^400 bad_json: The body is not/],
    ['another kind', { ...DNS, kind: 'Service' }, /^400 bad_field: Service without a name/],
    ['no name', { ...DNS, name: undefined }, /^400 bad_field: .*name/],
    ['a name with a slash', { ...DNS, name: '../x' }, /^400 .*: "\.\.\/x" is not a name$/],
    ['an object without names', { ...DNS, apiVersion: 'v9', kind: 'Pod' }, /^400 /],
    ['another namespace', { ...DNS, namespace: 'shop' }, /^400 bad_field: name or namespace/],
    ['no paths', { ...DNS, paths: undefined }, /^4(?:00|22) /],
    [
      'a path to nginx',
      { ...DNS, paths: [{ path: '/{}', service: 'a', port: 1 }] },
      /^4(?:00|22) /,
    ],
    ['a port that is none', { ...DNS, paths: [{ service: 'a', port: 70_000 }] }, /^4(?:00|22) /],
    ['a wildcard', { ...DNS, host: '*.node1.com' }, /^422 not_published: InvalidValue/],
    ['a host that is too long', { ...DNS, host: `${'a.'.repeat(130)}node1.com` }, /^422 /],
    ['a foreign zone', { ...DNS, host: 'node2.com' }, /^422 not_published: OutsideAllowedZones/],
    ['a body that is too long', `"${'x'.repeat(16_384)}"`, /^413 body_too_large/],
    [
      'an object of another file',
      { ...DNS, name: 'other' },
      /^409 in_other_file: .*default\/other$/,
    ],
  ]
  for (const [what, body, expected] of bad) {
    test(`refuse ${what}, and leave all others as they were`, async (t) => {
      const { send, records, file, changes } = serve(t, '', COREFILE, [STORED])
      const before = [records(), readFileSync(file, 'utf8')]
      assert.match(await send('POST', LIST, body), expected)
      assert.deepEqual([records(), readFileSync(file, 'utf8')], before)
      assert.equal(changes(), 0)
    })
  }

  test('take no name from an object of another namespace', async (t) => {
    const corefile = COREFILE.replace('recordZones default', 'recordZones *')
    const { send, records, file, changes } = serve(t, '', corefile, [STORED])
    const before = [records(), readFileSync(file, 'utf8')]
    const answer = await send('POST', LIST.replace('default', 'alpha'), {
      ...DNS,
      namespace: 'alpha',
    })
    assert.equal(
      answer,
      '422 not_published: Conflict: node1.com belongs to HostRoute default/dns-test1',
    )
    assert.deepEqual([records(), readFileSync(file, 'utf8'), changes()], [...before, 0])
    assert.match(await send('POST', `${ONE}/update`, DNS), /^200 /)
  })

  test('do not bring back an object that is deleted before the body of its update has come', async (t) => {
    const { send, app } = serve(t, '', COREFILE, [STORED])
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const update = app.request(`http://127.0.0.1${ONE}/update`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: readable,
      duplex: 'half',
    } as RequestInit)
    assert.match(await send('DELETE', ONE), /^200 /)
    await writer.write(new TextEncoder().encode(JSON.stringify(DNS)))
    await writer.close()
    assert.equal((await update).status, 404)
  })

  test('refuse what a page in a browser may send', async (t) => {
    const { send } = serve(t)
    const text = { 'content-type': 'text/plain' }
    assert.match(await send('POST', LIST, DNS, text), /^415 unsupported_media_type/)
    assert.match(await send('GET', `http://evil.test:8080${LIST}`), /^403 forbidden/)
    assert.equal(await send('GET', `http://[::1]:8080${LIST}`), '200 []')
    assert.equal(await send('GET', '/'), '404 not_found: There is nothing here')
  })

  test('need the token, if there is one', async (t) => {
    const { send } = serve(t, 'secret')
    for (const headers of [{}, { authorization: 'Bearer secre' }, { authorization: 'secret' }]) {
      assert.match(await send('GET', LIST, undefined, headers), /^401 unauthorized/)
    }
    const headers = { authorization: 'Bearer secret' }
    assert.equal(await send('GET', `http://kubedoh.test${LIST}`, undefined, headers), '200 []')
  })

  test('say that the Corefile has no HostRoutes', async (t) => {
    const { send } = serve(t, '', '. {\n  kubernetes cluster.local\n}\n')
    const expected = '422 not_published: The Corefile publishes no HostRoutes'
    assert.equal(await send('POST', LIST, DNS), expected)
  })
})

describe('kubedoh export with KUBEDOH_MINI_K8S', () => {
  const place = (
    t: TestContext,
    variables: Readonly<Record<string, string>>,
    names = ['objects'],
  ) => {
    const folder = temporaryFolder(t, {
      'objects/a.yaml': '',
      token: `${TOKEN}\n`,
      none: '\n',
      short: 'secret\n',
    })
    const file = variables.KUBEDOH_MINI_K8S_TOKEN
    const token = file === undefined ? {} : { KUBEDOH_MINI_K8S_TOKEN: join(folder, file) }
    const flags = new Map([['objects', names.map((name) => join(folder, name))]])
    if (variables.once !== undefined) flags.set('once', [''])
    return miniK8sPlace(new Input([], flags, { ...variables, ...token }))
  }

  test('listens on loopback, unless it gets another address and a token', (t) => {
    assert.equal(place(t, {}), undefined)
    const own = place(t, { KUBEDOH_MINI_K8S: ':8080' })
    assert.deepEqual([own?.host, own?.port, own?.token], ['127.0.0.1', 8080, ''])
    assert.equal(readFileSync(own?.file ?? '', 'utf8'), '{"items":[]}')
    const open = {
      KUBEDOH_MINI_K8S: '[::]:80',
      KUBEDOH_MINI_K8S_TOKEN: 'token',
      KUBEDOH_INSECURE: '1',
    }
    assert.deepEqual(place(t, open)?.token, TOKEN)
  })

  const refused: readonly (readonly [Readonly<Record<string, string>>, RegExp, string[]?])[] = [
    [{ KUBEDOH_MINI_K8S: '0.0.0.0:80' }, /lets other machines write; use a loopback address/],
    [{ KUBEDOH_MINI_K8S: '0.0.0.0:80', KUBEDOH_INSECURE: '1' }, /lets other machines/],
    [{ KUBEDOH_MINI_K8S: '0.0.0.0:80', KUBEDOH_MINI_K8S_TOKEN: 'token' }, /lets other machines/],
    [{ KUBEDOH_MINI_K8S: ':80', KUBEDOH_MINI_K8S_TOKEN: 'none' }, /none is empty$/],
    [
      { KUBEDOH_MINI_K8S: ':80', KUBEDOH_MINI_K8S_TOKEN: 'short' },
      /short has fewer than 16 characters$/,
    ],
    [{ KUBEDOH_MINI_K8S: ':80', KUBEDOH_MINI_K8S_TOKEN: 'absent' }, /^Cannot read .*absent/],
    [{ KUBEDOH_MINI_K8S: 'localhost' }, /"localhost" is not HOST:PORT/],
    [{ KUBEDOH_MINI_K8S: ':80', once: '' }, /needs --objects with a folder, and no --once/],
    [{ KUBEDOH_MINI_K8S: ':80' }, /needs --objects with a folder/, ['token']],
    [{ KUBEDOH_MINI_K8S: ':80' }, /needs --objects with a folder/, []],
  ]
  for (const [variables, message, names] of refused) {
    test(`refuses ${JSON.stringify([variables, names])}`, (t) => {
      assert.throws(() => place(t, variables, names), { message })
    })
  }
})
