/**
 * A third-party HTTP cache in front of a gateway (RFC 9111), and a third-party client of the JSON
 * API. Run by `npm run test:clients`.
 * @module
 */
import { deepEqual, equal, match } from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { cacheFolder } from '../../build/cache-folder.ts'
import { AUTHORITY } from '../certificates.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { get, JSON_FORM, messageOf, post, WEB, WEB_LINES, WIRE } from '../gateway/doh/item-cases.ts'
import { type Gateways, startOnNode, TOKENS, type Way } from '../gateway/doh/item-gateways.ts'
import { type Ask, type Got, sendTo } from '../gateway/doh/replies.ts'
import { formatReply } from '../message-text.ts'
import { findMissing, shell } from './programs.ts'

const DOHDEC = 'dohdec@6.0.4'
const NPM = cacheFolder(DOHDEC)

let gateways: Gateways
let way: Way
const folder = mkdtempSync(join(tmpdir(), 'kubedoh-cache-'))

beforeAll(async () => {
  gateways = await startOnNode()
  way = gateways.ways[0] ?? (await Promise.reject(new Error('there is no gateway')))
})
afterAll(async () => {
  await gateways.stop()
  rmSync(folder, { recursive: true, force: true })
})

describeUnless(findMissing('nginx'), 'nginx as a shared cache', () => {
  const ports = new Map<'open' | 'closed', number>()
  let stop = (): Promise<void> => Promise.resolve()

  beforeAll(async () => {
    for (const which of ['open', 'closed'] as const) ports.set(which, await freePort())
    const servers = [...ports].map(([which, port]) => serverOf(port, way.port(which)))
    const path = join(folder, 'nginx.conf')
    writeFileSync(path, configOf(servers))
    const nginx = spawn('nginx', ['-c', path, '-p', folder, '-e', 'stderr'], { stdio: 'inherit' })
    const gone = new Promise<void>((resolve) => nginx.once('close', () => resolve()))
    stop = () => {
      nginx.kill('SIGTERM')
      return gone
    }
    for (const port of ports.values()) await listening(port)
  })
  afterAll(() => stop())

  async function ask(request: Ask, which: 'open' | 'closed' = 'open'): Promise<Got> {
    const got = await sendTo(ports.get(which) ?? 0, request)
    equal(got.status, 200)
    return got
  }
  const fate = async (request: Ask, which?: 'open' | 'closed'): Promise<string | null> =>
    (await ask(request, which)).headers.get('x-cache')

  it('keeps a DNS message and JSON of one URL apart', async () => {
    const wire = get(`${WEB} A`, { accept: WIRE })
    const json = get(`${WEB} A`, { accept: JSON_FORM })
    const seen: string[] = []
    for (const one of [wire, wire, json, json, wire, json]) {
      const { headers, body } = await ask(one)
      const isWire = one === wire
      equal(headers.get('content-type'), isWire ? WIRE : JSON_FORM)
      if (isWire) deepEqual(formatReply(body).slice(1), WEB_LINES)
      else match(new TextDecoder().decode(body), /"data":"10\.96\.0\.80"/)
      seen.push(headers.get('x-cache') ?? '')
    }
    deepEqual(seen.slice(0, 3), ['MISS', 'HIT', 'MISS'])
  })

  it('caches a negative response', async () => {
    const denied = get('none.shop.svc.shop.test A')
    deepEqual([await fate(denied), await fate(denied)], ['MISS', 'HIT'])
  })

  it('does not cache responses for a token, failures, TTL 0 or POST', async () => {
    const own = { path: `/t/${TOKENS.client}${get(`${WEB} A`).path}` }
    const failed = get('a.later.test A')
    const fleeting = get('zero.shop.svc.shop.test A')
    const posted = post(messageOf(`${WEB} A`))
    for (const one of [failed, fleeting, posted]) {
      for (const _ of [1, 2]) match((await fate(one)) ?? 'none', /^(MISS|none)$/)
    }
    for (const _ of [1, 2]) equal(await fate(own, 'closed'), 'MISS')
  })
})

describeUnless(missingDohdec(), 'dohdec', () => {
  it('resolves with a token in the path', async () => {
    const script = join(NPM, 'ask.mjs')
    writeFileSync(
      script,
      `import { DNSoverHTTPS } from 'dohdec'
const url = 'https://localhost:${way.port('closed')}/t/${TOKENS.client}/dns-query'
const client = new DNSoverHTTPS({ url })
const { Answer } = await client.lookup('${WEB}', { rrtype: 'A', json: true })
const none = await client.lookup('none.shop.svc.shop.test', { rrtype: 'A', json: true })
console.log(JSON.stringify([Answer, none.Status]))
`,
    )
    const authority = join(folder, 'ca.pem')
    writeFileSync(authority, AUTHORITY)
    const text = await shell(`NODE_EXTRA_CA_CERTS=${authority} ${process.execPath} ${script}`)
    deepEqual(JSON.parse(text), [[{ name: `${WEB}.`, type: 1, TTL: 30, data: '10.96.0.80' }], 3])
  })
})

function serverOf(port: number, gateway: number): string {
  return `server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass https://127.0.0.1:${gateway};
      proxy_http_version 1.1;
      proxy_cache answers;
      proxy_cache_methods GET HEAD;
      add_header x-cache $upstream_cache_status;
    }
  }`
}

function configOf(servers: readonly string[]): string {
  const owner = process.getuid?.() === 0 ? 'user root;' : ''
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(folder, kind)};`,
  )
  return `${owner}
daemon off;
pid ${join(folder, 'nginx.pid')};
error_log stderr crit;
events {}
http {
  access_log off;
  ${temporary.join('\n  ')}
  proxy_cache_path ${join(folder, 'cache')} keys_zone=answers:1m;
  ${servers.join('\n  ')}
}
`
}

function missingDohdec(): string | false {
  const isThere = (): boolean => existsSync(join(NPM, 'node_modules/dohdec'))
  if (!isThere()) {
    process.stderr.write(`installing ${DOHDEC}\n`)
    mkdirSync(NPM, { recursive: true })
    const args = ['install', '--no-audit', '--no-fund', '--no-save', '--prefix', NPM, DOHDEC]
    spawnSync('npm', args, { timeout: 120_000 })
  }
  return isThere() ? false : `${DOHDEC} cannot be had from npm`
}

/** Waits until a server answers on this port. */
async function listening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const isThere = await sendTo(port, { path: '/' }).then(
      () => true,
      () => false,
    )
    if (isThere) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
