/**
 * kubedoh behind real servers, as docs/fronts.md configures them: names resolve, the client's
 * address comes through, and clients cannot invent one. Run by `npm run test:clients`.
 * @module
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { ROOT } from '../docs/pages.ts'

import { freePort } from '../free-port.ts'
import { type Asking, curl, dnscrypt, headersOf, http3, kdig, statuses } from './fronts/clients.ts'
import { publish } from './fronts/published.ts'
import { fill, nginxArgs, type Replacements, recipeOf, Workshop } from './fronts/recipes.ts'
import { findMissing, prepareEnvoy, preparePython } from './programs.ts'

const NAME = 'www.example.org'
const WHO = 'who.example.org'
const BLOCKED = '127.0.0.66'
const BLOCKS = `acl {
    block net ${BLOCKED}
  }`
const NAMES = `hosts {
    192.0.2.34 ${NAME}
    fallthrough
  }
  whoami`
const COREFILE = `. {\n  ${BLOCKS}\n  ${NAMES}\n}\n`
/** A fifth of it is the burst of a client. */
const LIMIT = { REQUESTS_PER_MINUTE: '100' }
const MORE_THAN_BURST = 30

/** A server of HTTP that ends TLS before a gateway. */
type Front = {
  readonly name: string
  readonly language: string
  readonly program: () => { readonly path: string; readonly missing: string | undefined }
  readonly args: (path: string, folder: string) => readonly string[]
  /** What stands for the address of clients, and further texts. */
  readonly replace: (port: number, folder: string) => Replacements
  readonly hasHttp3: boolean
  readonly certificate?: readonly string[]
}

const installed = (path: string) => () => ({ path, missing: findMissing(path) })
const FRONTS: readonly Front[] = [
  {
    name: 'nginx',
    language: 'nginx',
    program: installed('nginx'),
    args: nginxArgs,
    replace: (port) => ({ '0.0.0.0:443': `127.0.0.1:${port}` }),
    hasHttp3: false,
  },
  {
    name: 'Caddy',
    language: 'caddy',
    program: installed('caddy'),
    args: (path) => ['run', '--adapter', 'caddyfile', '--config', path],
    replace: (port, folder) => ({
      'dns.example.org:443': `localhost:${port}`,
      '/var/lib/caddy': folder,
    }),
    hasHttp3: true,
  },
  {
    name: 'Envoy',
    language: 'yaml',
    program: prepareEnvoy,
    args: (path) => ['-c', path, '--disable-hot-restart', '--concurrency', '1', '-l', 'warn'],
    replace: (port) => ({
      'address: 0.0.0.0, port_value: 443': `address: 127.0.0.1, port_value: ${port}`,
    }),
    hasHttp3: true,
  },
  {
    name: 'HAProxy',
    language: 'haproxy',
    program: installed('haproxy'),
    args: (path) => ['-db', '-f', path],
    replace: (port) => ({ '0.0.0.0:443': `127.0.0.1:${port}` }),
    hasHttp3: false,
    certificate: ['.both.pem'],
  },
]

const shop = new Workshop()
const authority = join(shop.folder, 'ca.pem')
const { python, missing: missingPython } = preparePython()
const missing = findMissing('kdig') ?? findMissing('curl')
let gateway = 0

beforeAll(async () => {
  gateway = await shop.runGateway('The gateway', COREFILE, LIMIT)
})
afterAll(() => shop.stop())

const certificates = (endings: readonly string[] = ['.pem', '.key']): Replacements =>
  Object.fromEntries(
    endings.map((ending) => [
      `/etc/ssl/dns.example.org${ending}`,
      join(shop.folder, `dns.example.org${ending}`),
    ]),
  )

/** Starts a front before a gateway. @returns its port */
async function startFront(front: Front, heading = front.name, behind = gateway): Promise<number> {
  const port = await freePort()
  const behindIt: Replacements =
    front.language === 'yaml'
      ? { 'address: 127.0.0.1, port_value: 8787': `address: 127.0.0.1, port_value: ${behind}` }
      : { '127.0.0.1:8787': `127.0.0.1:${behind}` }
  const config = fill(recipeOf(heading, front.language), {
    ...behindIt,
    ...front.replace(port, shop.folder),
    ...certificates(front.certificate),
  })
  // Envoy goes by the name of the file.
  const path = shop.write(`front-${port}.${front.language === 'yaml' ? 'yaml' : 'conf'}`, config)
  await shop.run([front.program().path, ...front.args(path, shop.folder)], port)
  return port
}

/** Headers by which a client invents an address. */
const forge = (address: string): readonly string[] => [
  `X-Forwarded-For: ${address}`,
  `Forwarded: for=${address}`,
  `CF-Connecting-IP: ${address}`,
  `X-Real-IP: ${address}`,
]

/** Checks that kubedoh sees the client over HTTP/2, whatever headers say. */
async function checkClient(port: number, from: string): Promise<void> {
  const who: Asking = { port, from, name: WHO, authority }
  assert.ok((await curl(who)).includes(from))
  assert.ok((await curl(who, forge('192.0.2.9'))).includes(from))
  assert.ok((await curl(who, forge(BLOCKED))).includes(from))
  for (const headers of [[], forge('192.0.2.9')]) {
    assert.match(await curl({ ...who, from: BLOCKED }, headers), /REFUSED/)
  }
}

async function checkLimit(port: number, network: string): Promise<void> {
  const one: Asking = { port, from: `${network}.1`, name: NAME, authority }
  const many = await statuses(one, MORE_THAN_BURST)
  assert.ok((many['200'] ?? 0) > 0 && (many['429'] ?? 0) > 0, JSON.stringify(many))
  assert.deepEqual(await statuses({ ...one, from: `${network}.2` }, 1), { '200': 1 })
}

for (const [index, front] of FRONTS.entries()) {
  const { name, hasHttp3 } = front
  const need = front.program().missing ?? missing ?? (hasHttp3 ? missingPython : undefined)
  describeUnless(need, name, () => {
    const network = `127.1.${index}`
    let port = 0
    beforeAll(async () => {
      port = await startFront(front)
    })

    it('answers over HTTP/2', async () => {
      const text = await kdig({ port, from: `${network}.3`, name: NAME, authority }, '+https')
      assert.match(text, /HTTP session \(HTTP\/2/)
      assert.match(text, /192\.0\.2\.34/)
    })

    if (hasHttp3) {
      it('answers over HTTP/3, which its headers announce', async () => {
        const asking: Asking = { port, from: `${network}.4`, name: WHO, authority }
        assert.ok((await http3(asking, python)).includes(asking.from))
        assert.match(await http3({ ...asking, name: NAME }, python), /192\.0\.2\.34/)
        assert.match(await http3({ ...asking, from: BLOCKED }, python), /REFUSED/)
        assert.match(await headersOf(asking), /alt-svc: h3=/)
      })
    }

    it("passes on the client's address", () => checkClient(port, `${network}.5`))

    it('lets no client use up the requests of others', () => checkLimit(port, network))
  })
}

describeUnless(findMissing('haproxy') ?? missing, 'HAProxy that leaves TLS alone', () => {
  it("passes on the client's address, and the gateway's HTTP/2", async () => {
    const heading = 'HAProxy that leaves TLS alone'
    const behind = await shop.runGateway(heading, COREFILE, LIMIT, certificates())
    const port = await freePort()
    const config = fill(recipeOf(heading, 'haproxy'), {
      '0.0.0.0:443': `127.0.0.1:${port}`,
      '127.0.0.1:8787': `127.0.0.1:${behind}`,
    })
    await shop.run(['haproxy', '-db', '-f', shop.write('tcp.cfg', config)], port)
    const text = await kdig({ port, from: '127.1.9.3', name: NAME, authority }, '+https')
    assert.match(text, /HTTP session \(HTTP\/2/)
    assert.match(text, /192\.0\.2\.34/)
    await checkClient(port, '127.1.9.5')
    await checkLimit(port, '127.1.9')
  })
})

describeUnless(findMissing('nginx') ?? missing, 'a shared cache', () => {
  const cache: Front = {
    name: 'A shared cache',
    language: 'nginx',
    program: installed('nginx'),
    args: nginxArgs,
    replace: (port, folder) => ({
      '0.0.0.0:443': `127.0.0.1:${port}`,
      '/var/cache/nginx': join(folder, `cache-${port}`),
    }),
    hasHttp3: false,
  }
  const fates = async (asking: Asking, headers: readonly string[] = []): Promise<string[]> => {
    const found: string[] = []
    for (const _ of [1, 2]) {
      const text = await headersOf(asking, headers)
      const [, status = ''] = /^http\/2 (\d+)/.exec(text) ?? []
      found.push(`${status} ${/^x-cache: (\w+)/m.exec(text)?.[1]}`)
    }
    return found
  }

  it('keeps answers of a public gateway', async () => {
    const corefile = `. {\n  hosts {\n    192.0.2.34 ${NAME}\n  }\n}\n`
    const open = await shop.runGateway('The gateway', corefile)
    const port = await startFront(cache, cache.name, open)
    const asking: Asking = { port, from: '127.1.8.1', name: NAME, authority }
    assert.deepEqual(await fates(asking), ['200 miss', '200 hit'])
    assert.match(await curl({ ...asking, from: '127.1.8.2' }), /192\.0\.2\.34/)
  })

  it('keeps none that are not for every client', async () => {
    const port = await startFront(cache)
    const asking: Asking = { port, from: '127.1.8.3', name: NAME, authority }
    assert.deepEqual(await fates(asking), ['200 miss', '200 miss'])
    assert.match(await curl({ ...asking, from: BLOCKED }), /REFUSED/)
  })

  it('keeps no answer for a token, and no shard', async () => {
    const { port: closed, all, bank, replica, shard } = await publish(shop)
    const port = await startFront(cache, cache.name, closed)
    const name = 'web.shop.svc.cluster.local'
    const asking: Asking = { port, from: '127.1.8.4', name, authority }
    assert.deepEqual(await fates(asking, [all]), ['200 miss', '200 miss'])
    assert.match(await curl(asking, [all]), /10\.96\.0\.80/)
    assert.match(await curl(asking, [bank]), /NXDOMAIN/)
    assert.deepEqual(await fates(asking), ['401 miss', '401 miss'])
    const its = { ...asking, path: shard }
    assert.deepEqual(await fates(its, [replica]), ['200 miss', '200 miss'])
    assert.deepEqual(await fates(its), ['401 miss', '401 miss'])
  })
})

describeUnless(findMissing('dnsdist') ?? findMissing('go') ?? missing, 'dnsdist', () => {
  const ports = { dns: 0, tls: 0, https: 0, crypt: 0 }
  const ask = (port: number, way: string, from: string): Promise<string> =>
    kdig({ port, from, name: WHO, authority }, way)

  beforeAll(async () => {
    const behind = await freePort()
    for (const name of ['dns', 'tls', 'https', 'crypt'] as const) ports[name] = await freePort()
    const corefile = fill(recipeOf('dnsdist', 'corefile'), {
      ':5300': `:${behind}`,
      'forward . /etc/resolv.conf': `${BLOCKS}\n  ${NAMES}`,
    })
    const serve = ['serve', '--conf', shop.write('Corefile', corefile)]
    await shop.run([join(ROOT, 'bin/kubedoh'), ...serve], /^ready/)
    const config = fill(recipeOf('dnsdist', 'lua'), {
      '127.0.0.1:5300': `127.0.0.1:${behind}`,
      '0.0.0.0:53"': `127.0.0.1:${ports.dns}"`,
      '0.0.0.0:853': `127.0.0.1:${ports.tls}`,
      '0.0.0.0:443': `127.0.0.1:${ports.https}`,
      '0.0.0.0:8443': `127.0.0.1:${ports.crypt}`,
      '-- generate': 'generate',
      '/etc/dnsdist': shop.folder,
      ...certificates(),
    })
    const path = shop.write('dnsdist.conf', config)
    await shop.run(['dnsdist', '--supervised', '-C', path], /Marking downstream .* as 'up'/)
  })

  for (const way of ['+notcp', '+tcp', '+tls', '+https'] as const) {
    it(`passes on the client's address by ${way}`, async () => {
      const port = { '+tls': ports.tls, '+https': ports.https }[String(way)] ?? ports.dns
      const from = '127.1.7.1'
      assert.ok((await ask(port, way, from)).includes(from))
      assert.match(await ask(port, way, BLOCKED), /REFUSED/)
      assert.match(await kdig({ port, from, name: NAME, authority }, way), /192\.0\.2\.34/)
    })
  }

  it('believes no header of a client', () => checkClient(ports.https, '127.1.7.2'))

  it("passes on the client's address by DNSCrypt", async () => {
    const key = readFileSync(join(shop.folder, 'provider.pub'))
    const provider = { name: '2.dnscrypt-cert.example.org', key }
    const asking: Asking = { port: ports.crypt, from: '127.1.7.3', name: WHO, authority }
    assert.ok((await dnscrypt(asking, provider)).includes(asking.from))
    assert.match(await dnscrypt({ ...asking, name: NAME }, provider), /192\.0\.2\.34/)
    assert.match(await dnscrypt({ ...asking, from: BLOCKED }, provider), /REFUSED/)
  })
})
