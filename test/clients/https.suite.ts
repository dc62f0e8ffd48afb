/**
 * Real clients against the gateway over TLS, each with a way to carry a token that it supports, for
 * an origin outside `.local`. Run by `npm run test:clients`.
 * @module
 */
import { match } from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { CLIENT } from '../certificates.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { prepareCoreDns } from '../real-cluster/binaries.ts'
import { start } from '../real-cluster/processes.ts'
import { findMissing, preparePython, shell } from './programs.ts'
import { TlsGateways } from './tls-gateway.ts'

const NAME = 'page.shop.svc.demo.test'
const COREFILE = '. {\n  kubernetes demo.test {\n    cluster demo\n  }\n}\n'
/** Where Chromium reads its policies. */
const CHROMIUM_POLICIES = '/etc/chromium/policies/managed'

describe('real clients over TLS', () => {
  const gateways = new TlsGateways()
  const file = (name: string): string => gateways.file(name)
  let pages: Server | undefined
  let pagePort = 0
  /** The gateways without and with client certificates. */
  let port = 0
  let certificatePort = 0
  let token = ''

  beforeAll(async () => {
    pages = await gateways.startPage()
    pagePort = gateways.pagePort
    port = await gateways.start('demo', COREFILE)
    const flags = ['--client-ca', file('ca.pem')]
    certificatePort = await gateways.start('demo', COREFILE, flags)
    token = await gateways.makeToken(port, {})
    const sha256 = createHash('sha256').update(new X509Certificate(CLIENT.cert).raw).digest('hex')
    await gateways.makeToken(certificatePort, { identities: [`cert:${sha256}`] })
  })

  afterAll(() => gateways.stop())

  it('curl resolves with --doh-url and the token as the password', async () => {
    const url = `https://x:${token}@localhost:${port}/dns-query`
    const page = `http://${NAME}:${pagePort}/`
    match(await shell(`curl -sS --cacert ${file('ca.pem')} --doh-url '${url}' ${page}`), /hello/)
  })

  it('curl gets an RRset of a thousand addresses, cut to its buffer', async () => {
    const url = `https://x:${token}@localhost:${port}/dns-query`
    const to = `--cacert ${file('ca.pem')} --doh-url '${url}' http://many.shop.svc.demo.test:${pagePort}/`
    // The name resolves, but nothing listens there.
    match(await shell(`curl -sS -m 1 ${to} || echo "status $?"`), /status (7|28)/)
  })

  for (const [program, get] of [
    ['dig', '+https-get'],
    ['kdig', '+https-get +https'],
  ] as const) {
    describeUnless(findMissing(program), program, () => {
      for (const way of ['+https', get]) {
        it(`queries with ${way} and the token in the path`, async () => {
          const tls = `+tls-ca=${file('ca.pem')} +tls-hostname=localhost`
          const at = `@127.0.0.1 -p ${port} ${way}=/t/${token}/dns-query`
          match(await shell(`${program} ${at} ${tls} ${NAME} A`), /\bA\s+127\.0\.0\.1/)
        })
      }
    })
  }

  describeUnless(preparePython().missing, 'dnspython', () => {
    for (const post of ['True', 'False']) {
      it(`queries with post=${post} and the token in the path`, async () => {
        const script = `import dns.message, dns.query
query = dns.message.make_query('${NAME}', 'A')
url = 'https://localhost:${port}/t/${token}/dns-query'
where = dict(verify='${file('ca.pem')}', bootstrap_address='127.0.0.1')
print(dns.query.https(query, url, post=${post}, **where))`
        writeFileSync(file('ask.py'), script)
        match(await shell(`${preparePython().python} ${file('ask.py')}`), /IN A 127\.0\.0\.1/)
      })
    }
  })

  describeUnless(findMissing('go'), "CoreDNS's forward over HTTPS", () => {
    it('queries with a client certificate', async () => {
      const dns = await freePort()
      const tls = `tls ${file('client.pem')} ${file('client.key')} ${file('ca.pem')}`
      const forward = `forward . https://127.0.0.1:${certificatePort} {\n ${tls}\n tls_servername localhost\n}`
      writeFileSync(file('Forward'), `. {\n bind 127.0.0.1\n ${forward}\n}\n`)
      const coredns = start(prepareCoreDns(), ['-conf', file('Forward'), '-dns.port', String(dns)])
      try {
        await coredns.line(/CoreDNS-/)
        match(await shell(`dig @127.0.0.1 -p ${dns} ${NAME} A`), /\bA\s+127\.0\.0\.1/)
      } finally {
        await coredns.stop()
      }
    })
  })

  describeUnless(browserMissing('chromium'), 'Chromium', () => {
    it('opens a page of the cluster with the token in the path', async () => {
      const policy = join(CHROMIUM_POLICIES, 'kubedoh-test.json')
      const template = `https://localhost:${port}/t/${token}/dns-query{?dns}`
      const home = file('home')
      mkdirSync(join(home, '.pki/nssdb'), { recursive: true })
      mkdirSync(CHROMIUM_POLICIES, { recursive: true })
      await gateways.trust(join(home, '.pki/nssdb'))
      const policies = { DnsOverHttpsMode: 'secure', DnsOverHttpsTemplates: template }
      writeFileSync(policy, JSON.stringify(policies))
      try {
        const flags = '--headless=new --no-sandbox --disable-gpu --dump-dom'
        const profile = `--user-data-dir=${file('chromium')}`
        const page = `http://${NAME}:${pagePort}/`
        const dom = await shell(`HOME=${home} chromium ${flags} ${profile} ${page} 2>/dev/null`)
        match(dom, /hello from the page/)
      } finally {
        rmSync(policy, { force: true })
      }
    })
  })

  describeUnless(browserMissing('firefox-esr'), 'Firefox', () => {
    it('opens a page of the cluster with the token in a header', async () => {
      const profile = file('firefox')
      mkdirSync(profile)
      await gateways.trust(profile)
      const preferences = {
        'network.trr.mode': 3,
        'network.trr.uri': `https://localhost:${port}/dns-query`,
        'network.trr.credentials': `Bearer ${token}`,
        'network.trr.allow-rfc1918': true,
        'network.trr.confirmationNS': 'skip',
        'datareporting.policy.dataSubmissionEnabled': false,
      }
      const lines = Object.entries(preferences).map(
        ([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`,
      )
      writeFileSync(join(profile, 'user.js'), lines.join(''))
      const seen = new Promise<string>((resolve) => {
        pages?.on('request', ({ headers }) => {
          if (headers['user-agent']?.includes('Firefox')) resolve(`${headers.host} was opened`)
        })
      })
      const page = `http://${NAME}:${pagePort}/`
      const shot = `--screenshot ${file('page.png')}`
      await shell(`HOME=${file('')} firefox-esr --headless --profile ${profile} ${shot} ${page}`)
      match(await seen, new RegExp(`^${NAME}:${pagePort} was opened`))
    })
  })
})

/** Returns what a browser lacks: its program, trust in our CA, or writable policies. */
function browserMissing(program: string): string | false {
  const isRoot = process.getuid?.() === 0
  if (program === 'chromium' && !isRoot) return 'Chromium takes its policies from root'
  return findMissing(program) ?? findMissing('certutil') ?? false
}
