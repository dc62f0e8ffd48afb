/**
 * BIND's validating resolver validates what `dnssec` signs. Run by `npm run test:clients`.
 * @module
 */
import { match } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { newKeyFiles } from '../zone-keys.ts'
import { findMissing, shell } from './programs.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')

const ZONE = `$TTL 60
@ SOA ns host 7 3600 600 86400 300
@ NS ns
@ MX 10 Mail.Example.ORG.
ns A 127.0.0.1
www A 192.0.2.1
www A 192.0.2.2
www AAAA 2001:db8::1
alias CNAME www
gone CNAME nothing
*.wild TXT "any" "thing"
sub.dn A 192.0.2.3
dn DNAME sub
_http._tcp SRV 1 2 80 WWW
svc HTTPS 1 . alpn=h2
cut NS ns.cut
cut DS 12345 13 2 ${'0A'.repeat(32)}
plain NS ns.plain
`

/** Queries, and delv's results. */
const QUESTIONS: readonly (readonly [question: string, says: RegExp])[] = [
  ['www A', /^; fully validated\n[\s\S]*A\t192\.0\.2\.2/],
  ['wWw AAAA', /^; fully validated/],
  ['@ MX', /^; fully validated/],
  ['@ SOA', /^; fully validated/],
  ['@ NS', /^; fully validated/],
  ['@ DNSKEY', /^; fully validated/],
  ['alias A', /^; fully validated\n[\s\S]*A\t192\.0\.2\.2/],
  ['a.b.wild TXT', /^; fully validated\n[\s\S]*"any" "thing"/],
  ['dn DNAME', /^; fully validated/],
  ['_http._tcp SRV', /^; fully validated/],
  ['svc HTTPS', /^; fully validated/],
  ['cut DS', /^; fully validated/],
  ['plain DS', /negative response, fully validated/],
  ['nothing A', /negative response, fully validated/],
  ['www MX', /negative response, fully validated/],
  ['@ TXT', /negative response, fully validated/],
  ['gone A', /^[\s\S]*; fully validated\n[\s\S]*\$NXRRSET/],
]

const KINDS = [
  { name: 'ECDSA', keys: [{ algorithm: 13, flags: 257 }] },
  { name: 'ECDSA on the larger curve', keys: [{ algorithm: 14, flags: 257 }] },
  { name: 'Ed25519', keys: [{ algorithm: 15, flags: 257 }] },
  { name: 'RSA', keys: [{ algorithm: 8, flags: 257 }] },
  {
    name: 'a key for keys and one for all else',
    keys: [
      { algorithm: 13, flags: 257 },
      { algorithm: 13, flags: 256 },
    ],
  },
] as const

const missing = findMissing('delv')

describeUnless(missing, 'delv validates signed responses', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-dnssec-'))
  const zoneOf = (i: number): string => `z${i}.example.org`
  let port = 0
  let server: Running | undefined

  beforeAll(async () => {
    port = await freePort()
    writeFileSync(join(folder, 'db'), ZONE)
    const blocks = KINDS.map(({ keys }, i) => {
      keys.forEach((key, j) => {
        writeKey(folder, { base: `K${i}-${j}`, zone: zoneOf(i), ...key })
      })
      const names = keys.map((_, j) => `K${i}-${j}`).join(' ')
      return `${zoneOf(i)} {\n  dnssec {\n    key file ${names}\n  }\n  file db\n}\n`
    })
    writeFileSync(join(folder, 'Corefile'), blocks.join(''))
    const args = ['serve', '--conf', join(folder, 'Corefile'), '--dns.port', String(port)]
    server = start(KUBEDOH, args, {}, folder)
    await server.line(/^ready/)
  })

  afterAll(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  for (const [i, { name }] of KINDS.entries()) {
    it(`by ${name}`, async () => {
      const zone = zoneOf(i)
      for (const [question, says] of QUESTIONS) {
        const asked = question.replace(/^@ /, `${zone} `).replace(/^(\S+(?<!org)) /, `$1.${zone} `)
        const anchor = `-a ${join(folder, `K${i}-0.anchor`)} +root=${zone}`
        match(await shell(`delv @127.0.0.1 -p ${port} ${anchor} ${asked} 2>&1`), says, asked)
      }
    })
  }
})

/** Writes the files of a new key, and delv's trust anchor for it. */
function writeKey(
  folder: string,
  key: {
    readonly base: string
    readonly zone: string
    readonly algorithm: number
    readonly flags: number
  },
): void {
  const { base, zone } = key
  const files = newKeyFiles(base, `${zone}.`, key)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const [, , , flags, protocol, algorithm, data] = (files[`${base}.key`] ?? '').trim().split(' ')
  const known = `"${zone}." static-key ${flags} ${protocol} ${algorithm} "${data}";`
  writeFileSync(join(folder, `${base}.anchor`), `trust-anchors { ${known} };\n`)
}
