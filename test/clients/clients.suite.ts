/**
 * Common DNS and HTTP clients against our servers. Run by `npm run test:clients`.
 * @module
 */
import { match } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { CLIENT_TOKEN, formatExamples } from '../../demo/examples.ts'
import { encodeBase64url } from '../../src/dns/bytes/base64url.ts'
import { nameOf } from '../../src/dns/names/name.ts'
import { TYPE } from '../../src/dns/names/rr-type.ts'
import { writeQuery } from '../../src/dns/wire/write-query.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { prepareCoreDns } from '../real-cluster/binaries.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { findMissing, shell } from './programs.ts'

const ROOT = join(import.meta.dirname, '../..')
const NODE = process.execPath

/** Queries, and the expected answers as dig and the JSON API print them. */
const QUESTIONS = [
  {
    name: 'web.shop.svc.demo.test',
    type: 'A',
    dig: /\bA\t10\.96\.12\.34/,
    json: /"10\.96\.12\.34"/,
  },
  {
    name: 'web.shop.svc.demo.test',
    type: 'AAAA',
    dig: /AAAA\tfd00:10:96::1234/,
    json: /"fd00:10:96::1234"/,
  },
  {
    name: '_sql._tcp.postgres.data.svc.demo.test',
    type: 'SRV',
    dig: /SRV\s0 33 5432 postgres-2\.postgres\.data\.svc\.demo\.test\./,
    json: /"0 33 5432 postgres-2\.postgres\.data\.svc\.demo\.test\."/,
  },
  {
    name: '34.12.96.10.in-addr.arpa',
    type: 'PTR',
    dig: /PTR\tweb\.shop\.svc\./,
    json: /"web\.shop\.svc\./,
  },
  {
    name: 'bank.payments.svc.demo.test',
    type: 'A',
    dig: /CNAME\tapi\.bank\.example\.com\.[\s\S]*A\t192\.0\.2\.80/,
    json: /"api\.bank\.example\.com\."[\s\S]*"192\.0\.2\.80"/,
  },
  {
    name: 'cart.shop.svc.demo.test',
    type: 'AAAA',
    dig: /NOERROR[\s\S]*ANSWER: 0/,
    json: /"Status":0/,
  },
  { name: 'nope.shop.svc.demo.test', type: 'A', dig: /NXDOMAIN/, json: /"Status":3/ },
] as const

describe('real clients', () => {
  const running: Running[] = []
  let origin = ''
  let url = ''
  let dnsPort = 0

  beforeAll(async () => {
    const port = await freePort()
    dnsPort = await freePort()
    origin = `http://127.0.0.1:${port}`
    url = `${origin}/t/${CLIENT_TOKEN}`
    const flags = ['--port', String(port), '--dns.port', String(dnsPort)]
    const demo = start(NODE, [join(ROOT, 'demo/start.ts'), ...flags])
    running.push(demo)
    await demo.line(/^ready/)
  })

  afterAll(async () => {
    for (const one of running.toReversed()) await one.stop()
  })

  describeUnless(findMissing('curl'), 'curl', () => {
    for (const { name, type, json } of QUESTIONS) {
      it(`reads ${type} of ${name} as JSON`, async () => {
        match(await shell(`curl -sS '${url}/resolve?name=${name}&type=${type}'`), json)
      })
    }

    it('reads the wire form by GET and by POST', async () => {
      const query = writeQuery({ name: nameOf('web.shop.svc.demo.test'), type: TYPE.A })
      const get = `curl -sS -H 'accept: application/dns-message' '${url}/dns-query?dns=${encodeBase64url(query)}'`
      const post = `printf '${[...query].map((octet) => `\\${octet.toString(8).padStart(3, '0')}`).join('')}' | curl -sS -H 'content-type: application/dns-message' --data-binary @- '${url}/dns-query'`
      for (const command of [get, post]) {
        match(await shell(`${command} | od -An -tx1 | tr -d ' \\n'`), /0a600c22$/)
      }
    })

    it('gets errors with a status and JSON', async () => {
      const ask = `curl -sS -o - -w ' %{http_code}'`
      match(await shell(`${ask} '${url}/dns-query?dns=!'`), /"code"[\s\S]* 400$/)
      match(await shell(`${ask} -X DELETE '${url}/dns-query'`), /"code"[\s\S]* 405$/)
      match(await shell(`${ask} -d x '${url}/dns-query'`), /"code"[\s\S]* 415$/)
      match(await shell(`${ask} '${origin}/metrics'`), /"unauthorized"[\s\S]* 401$/)
    })

    it('runs the command that the demo prints', async () => {
      const limited = { id: 'unused', token: CLIENT_TOKEN, namespace: 'shop' }
      const demo = { isDemo: true, seconds: 1, adminToken: 'unused', limited }
      const printed = formatExamples({ url: origin, host: '127.0.0.1', dnsPort, ...demo })
      const commands = printed.match(/^ {2}(?:curl|dig) .*$/gm) ?? []
      for (const command of commands) match(await shell(command), /./, command)
    })
  })

  for (const program of ['dig', 'kdig']) {
    describeUnless(findMissing(program), program, () => {
      for (const way of ['', '+tcp']) {
        for (const { name, type, dig } of QUESTIONS) {
          it(`reads ${type} of ${name} ${way}`, async () => {
            const text = await shell(`${program} @127.0.0.1 -p ${dnsPort} ${way} ${name} ${type}`)
            match(text.replaceAll(/ {2,}/g, '\t'), dig)
          })
        }
      }
    })
  }

  describeUnless(coreDnsMissing(), "CoreDNS's forward", () => {
    it('forwards to our server', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'kubedoh-clients-'))
      const port = await freePort()
      const corefile = join(folder, 'Corefile')
      writeFileSync(corefile, `. {\n bind 127.0.0.1\n forward . 127.0.0.1:${dnsPort}\n}\n`)
      const binary = prepareCoreDns()
      const coredns = start(binary, ['-conf', corefile, '-dns.port', String(port)])
      try {
        await coredns.line(/CoreDNS-/)
        for (const { name, type, dig } of QUESTIONS) {
          match(await shell(`dig @127.0.0.1 -p ${port} ${name} ${type}`), dig)
        }
      } finally {
        await coredns.stop()
        rmSync(folder, { recursive: true, force: true })
      }
    })
  })
})

function coreDnsMissing(): string | false {
  return findMissing('go') ?? findMissing('dig') ?? false
}
