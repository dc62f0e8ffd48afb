/**
 * Messages that dig and kdig sign, and transfers that they verify, with `tsig`. Run by `npm run
 * test:clients`.
 * @module
 */
import { match } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { findMissing, shell } from './programs.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const SECRET = 'NoTCJU+DMqFWywaPyxSijrDEA/eC3nK0xi3AMEZuPVk='
const OTHER = 'wjZXc3ZgvgGZjJ5oNhUmnQ=='
const HOSTS = 600

const COREFILE = `example.org {
  tsig {
    secret a.key ${SECRET}
    require AXFR
  }
  transfer {
    to *
  }
  file db
}
`
const ZONE = [
  '$TTL 60',
  '@ SOA ns host 7 3600 600 86400 300',
  '@ NS ns',
  'ns A 127.0.0.1',
  'www A 192.0.2.1',
  ...Array.from({ length: HOSTS }, (_, i) => `h${i} TXT "${'x'.repeat(200)}"`),
].join('\n')

describe('signed messages', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-tsig-'))
  let port = 0
  let server: Running | undefined

  beforeAll(async () => {
    port = await freePort()
    writeFileSync(join(folder, 'Corefile'), COREFILE)
    writeFileSync(join(folder, 'db'), `${ZONE}\n`)
    const args = ['serve', '--conf', join(folder, 'Corefile'), '--dns.port', String(port)]
    server = start(KUBEDOH, args, {}, folder)
    await server.line(/^ready/)
  })

  afterAll(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  describeUnless(findMissing('dig'), 'of dig', () => {
    const dig = (words: string): Promise<string> =>
      shell(`dig @127.0.0.1 -p ${port} ${words} 2>&1 || true`)

    for (const digest of ['sha1', 'sha224', 'sha256', 'sha384', 'sha512']) {
      it(`are accepted with ${digest}, and the response is signed`, async () => {
        const printed = await dig(`-y hmac-${digest}:a.key:${SECRET} www.example.org A`)
        match(printed, /status: NOERROR[\s\S]*192\.0\.2\.1\n[\s\S]*NOERROR 0 ?\n/)
        match(printed, /^(?![\s\S]*(WARNING -- Some TSIG|Couldn't verify))/)
      })
    }

    const refused = [
      { name: 'another key', key: `b.key:${SECRET}`, says: 'BADKEY' },
      { name: 'another secret', key: `a.key:${OTHER}`, says: 'BADSIG' },
      { name: 'another time', key: `a.key:${SECRET} +fuzztime=1700000000`, says: 'BADTIME' },
    ]
    for (const { name, key, says } of refused) {
      it(`are refused with ${name}`, async () => {
        const printed = await dig(`-y hmac-sha256:${key} www.example.org A`)
        match(printed, new RegExp(`status: NOTAUTH[\\s\\S]* ${says} `))
      })
    }

    it('get a transfer whose messages are all signed, and none without a signature', async () => {
      const printed = await dig(`-y hmac-sha256:a.key:${SECRET} example.org AXFR`)
      match(printed, new RegExp(`XFR size: ${HOSTS + 5} records \\(messages ([3-9]|\\d\\d),`))
      match(printed, /^(?![\s\S]*(WARNING -- Some TSIG|Couldn't verify|failed))/)
      match(await dig('example.org AXFR'), /Transfer failed/)
    })
  })

  describeUnless(findMissing('kdig'), 'of kdig', () => {
    const kdig = (words: string): Promise<string> =>
      shell(`kdig @127.0.0.1 -p ${port} -y hmac-sha512:a.key:${SECRET} ${words} 2>&1 || true`)

    it('are accepted, and the response is signed', async () => {
      const printed = await kdig('www.example.org A')
      match(printed, /status: NOERROR[\s\S]*192\.0\.2\.1\n/)
      match(printed, /^(?![\s\S]*(failed|WARNING|ERROR: ))/)
    })

    it('get a transfer whose messages are all signed', async () => {
      const printed = await kdig('example.org AXFR')
      match(printed, new RegExp(`\\(([3-9]|\\d\\d) messages, ${HOSTS + 5} records\\)`))
    })
  })
})
