import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { ClusterObject } from '../../../src/cluster/objects/objects.ts'
import { parseObject } from '../../../src/cluster/objects/parse-object.ts'
import { formatNginx } from '../../../src/operators/router/nginx-config.ts'
import { RoutedObjects } from '../../../src/operators/router/router.ts'
import { HOSTILE_HOSTS, HOSTILE_PATHS } from '../../cluster/host-route-cases.ts'
import { seededRandom } from '../../differential/generate.ts'

const OPTIONS = { listen: ['0.0.0.0:80', '[::]:80'], folder: '/run/router' }
const EVERY = { recordZones: [{ namespace: '*', zones: [''] }] }
/** Every line of a server that a value of an object may be in. */
const LINES = [
  /^ {2}server \{$/,
  /^ {4}listen (?:0\.0\.0\.0|\[::\]):80;$/,
  /^ {4}server_name [a-z0-9.-]+;$/,
  /^ {4}location \/ \{ (?:return (?:404|503)|proxy_pass http:\/\/[0-9.]+:\d+); \}$/,
  /^ {4}location (?:= )?\/[A-Za-z0-9._~/-]+ \{ return 503; \}$/,
  /^ {4}location (?:= )?(\/[A-Za-z0-9._~/-]+?)\/? \{ set \$kubedoh_prefix \1; proxy_pass http:\/\/[0-9.]+:\d+\/; \}$/,
  /^ {2}\}$/,
  /^\}$/,
]

function routeObject(host: unknown, path: unknown, service: unknown, port: unknown): unknown {
  return {
    kind: 'HostRoute',
    metadata: { name: 'r', namespace: 'shop' },
    spec: { host, paths: [{ path, service, port }] },
  }
}

const WEB = {
  kind: 'Service',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { clusterIP: '10.96.0.1', ports: [{ port: 80 }] },
}

/** Returns the lines of the servers of some objects of unknown shape. */
function serversOf(...values: readonly unknown[]): string[] {
  const objects = new RoutedObjects()
  for (const value of [WEB, ...values]) {
    const object = parseObject(value)
    if (object !== undefined && object.kind !== 'problem') objects.set(object as ClusterObject)
  }
  const { text } = formatNginx(objects.table(EVERY).hosts, OPTIONS)
  return text
    .slice(text.indexOf('return 404;\n  }\n') + 16)
    .trimEnd()
    .split('\n')
}

describe('the configuration of nginx', () => {
  test('strips the path, for itself and for all below it', () => {
    assert.deepEqual(serversOf(routeObject('a.test', '/cart', 'web', 80)), [
      '  server {',
      '    listen 0.0.0.0:80;',
      '    listen [::]:80;',
      '    server_name a.test;',
      '    location = /cart { set $kubedoh_prefix /cart; proxy_pass http://10.96.0.1:80/; }',
      '    location /cart/ { set $kubedoh_prefix /cart; proxy_pass http://10.96.0.1:80/; }',
      '    location / { return 404; }',
      '  }',
      '}',
    ])
  })

  test('has the paths in the order of nginx, which has the slash before other characters', () => {
    const paths = ['/a', '/a-b', '/a.b', '/a/b', '/a0', '/']
    const spec = {
      host: 'a.test',
      paths: paths.map((path) => ({ path, service: 'web', port: 80 })),
    }
    const lines = serversOf({ kind: 'HostRoute', metadata: { name: 'r', namespace: 'shop' }, spec })
    const found = lines.flatMap((line) => /location (?!=)(\S+)/.exec(line)?.[1] ?? [])
    assert.deepEqual(found, ['/', '/a/', '/a/b/', '/a-b/', '/a.b/', '/a0/'])
  })

  test('passes on the host that nginx took, with the port of the client', () => {
    const { text } = formatNginx([], OPTIONS)
    assert.deepEqual(text.match(/proxy_set_header (?:Host|X-Forwarded-Host) .*/g), [
      'proxy_set_header Host $host$kubedoh_port;',
      'proxy_set_header X-Forwarded-Host $host$kubedoh_port;',
    ])
  })

  test('has no other servers without objects, and another digest with other ones', () => {
    assert.deepEqual(serversOf(), ['}'])
    // nginx refuses a variable that nothing sets.
    assert.match(formatNginx([], OPTIONS).text, /^ {4}set \$kubedoh_prefix "";$/m)
    const [a, b] = [OPTIONS, { ...OPTIONS, listen: ['0.0.0.0:81'] }].map((one) => {
      return formatNginx([], one).digest
    })
    assert.notEqual(a, b)
  })

  test('has nothing of hostile hosts and paths', () => {
    const objects = [
      ...HOSTILE_HOSTS.map((host) => routeObject(host, '/', 'web', 80)),
      ...HOSTILE_PATHS.map((path) => routeObject('a.test', path, 'web', 80)),
    ]
    assert.ok(objects.length > 30)
    for (const object of objects) assert.deepEqual(serversOf(object), ['}'])
  })

  test('has only the lines that it should have, whatever an object says', () => {
    const random = seededRandom(20_261)
    const below = (count: number): number => Math.floor(random() * count)
    const pieces = [
      'a',
      '/',
      '.',
      '-',
      ';',
      '{',
      '}',
      '"',
      "'",
      '\\',
      '$',
      '\n',
      ' ',
      '#',
      '~',
      '%',
    ]
    const texts = (): string => {
      const count = below(8)
      return Array.from({ length: count }, () => pieces[below(pieces.length)]).join('')
    }
    let routed = 0
    for (let i = 0; i < 20_000; i++) {
      const host = below(2) === 0 ? texts() : 'a.test'
      const path = below(2) === 0 ? `/${texts()}` : texts()
      const service = below(4) === 0 ? texts() : 'web'
      const port = below(4) === 0 ? texts() : 80
      const lines = serversOf(routeObject(host, path, service, port))
      if (lines.length > 1) routed++
      for (const line of lines) {
        assert.ok(
          LINES.some((one) => one.test(line)),
          JSON.stringify({ host, path, service, port, line }),
        )
      }
    }
    assert.ok(routed > 100, String(routed))
  })

  test('is refused by ourselves for a text that the parser should have refused', () => {
    const object = parseObject(routeObject('a.test', '/a', 'web', 80))
    assert.ok(object?.kind === 'HostRoute')
    const routes = [
      { path: '/a', service: 'web', port: 80, object, backend: { address: '1;', port: 80 } },
    ]
    assert.throws(() => formatNginx([{ host: 'a.test', routes }], OPTIONS), TypeError)
  })
})
