/**
 * Messages of ISC's suites, sent to the real CoreDNS and to ours, over UDP and TCP: ISC's genreport
 * (RFC 8906) and BIND's system test "formerr". Ours may fall short of what ISC wants only where
 * CoreDNS does the same.
 * @module
 */
import { deepEqual, ok } from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { freePort } from '../free-port.ts'
import { prepareCoreDns } from '../real-cluster/binaries.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { COMPLIANCE, faultsOf, writeCase } from './compliance-cases.ts'
import { MALFORMED } from './malformed-cases.ts'

const HOST = '127.0.0.1'
const ZONE = 'example.org'
const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const ZONE_FILE = `$ORIGIN ${ZONE}.
@ 300 IN SOA ns admin 1 7200 3600 1209600 300
@ 300 IN NS ns
@ 300 IN A 192.0.2.1
ns 300 IN A 192.0.2.53
`
const RCODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED']
const ANSWER_MS = 5000

type Server = { readonly running: Running; readonly port: number }

const folder = mkdtempSync(join(tmpdir(), 'kubedoh-foreign-'))
const servers: Record<'ours' | 'coredns', Server | undefined> = {
  ours: undefined,
  coredns: undefined,
}

beforeAll(async () => {
  const conf = join(folder, 'Corefile')
  writeFileSync(join(folder, 'zone'), ZONE_FILE)
  writeFileSync(conf, `${ZONE} {\n file ${join(folder, 'zone')}\n}\n. {\n whoami\n}\n`)
  const ports = [await freePort(), await freePort()] as const
  const coredns = start(prepareCoreDns(), ['-conf', conf, `-dns.port=${ports[0]}`], {}, folder)
  const ours = start(KUBEDOH, ['serve', '--conf', conf, '--dns.port', String(ports[1])])
  servers.coredns = { running: coredns, port: ports[0] }
  servers.ours = { running: ours, port: ports[1] }
  await coredns.line(/CoreDNS-/)
  await ours.line(/^ready/)
})
afterAll(async () => {
  await servers.coredns?.running.stop()
  await servers.ours?.running.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe("ISC's genreport", () => {
  it('finds nothing wrong with ours that it does not find with CoreDNS', async () => {
    const wrong: string[] = []
    let compliant = 0
    for (const asked of COMPLIANCE) {
      const message = writeCase(asked, ZONE)
      const [ours, theirs] = [
        faultsOf(asked, await ask('ours', message, asked.isTcp)),
        faultsOf(asked, await ask('coredns', message, asked.isTcp)),
      ]
      if (ours.length === 0) compliant++
      const more = ours.filter((fault) => !theirs.includes(fault))
      if (more.length > 0) wrong.push(`${asked.name}: ${more.join(', ')}`)
      else if (ours.length > 0) note(`${asked.name}: ${ours.join(', ')}, as CoreDNS`)
    }
    note(`genreport: ${compliant} of ${COMPLIANCE.length} compliant`)
    ok(COMPLIANCE.length > 90)
    deepEqual(wrong, [])
  })
})

describe("BIND's malformed messages", () => {
  it('get the response code of BIND or of CoreDNS, by UDP and by TCP', async () => {
    const wrong: string[] = []
    let likeBind = 0
    for (const { name, message, rcode } of MALFORMED) {
      for (const isTcp of [false, true]) {
        const [ours, theirs] = [
          rcodeOf(await ask('ours', message, isTcp)),
          rcodeOf(await ask('coredns', message, isTcp)),
        ]
        if (ours === rcode) likeBind++
        else if (ours !== theirs) wrong.push(`${name}: ${ours}, BIND ${rcode}, CoreDNS ${theirs}`)
        else if (isTcp) note(`${name}: ${ours} as CoreDNS, where BIND has ${rcode}`)
      }
    }
    note(`formerr: ${likeBind} of ${2 * MALFORMED.length} as BIND`)
    deepEqual(wrong, [])
  })
})

function note(text: string): void {
  process.stdout.write(`${text}\n`)
}

function rcodeOf(response: Buffer | undefined): string {
  if (response === undefined) return 'none'
  const code = (response[3] ?? 0) & 15
  return RCODES[code] ?? String(code)
}

function ask(
  server: 'ours' | 'coredns',
  message: Buffer,
  isTcp: boolean,
): Promise<Buffer | undefined> {
  const port = servers[server]?.port ?? 0
  return isTcp ? askTcp(port, message) : askUdp(port, message)
}

function askUdp(port: number, message: Buffer): Promise<Buffer | undefined> {
  const socket = createSocket('udp4')
  return new Promise<Buffer | undefined>((resolve) => {
    const timer = setTimeout(() => resolve(undefined), ANSWER_MS)
    socket.on('message', (response) => {
      clearTimeout(timer)
      resolve(response)
    })
    socket.send(message, port, HOST)
  }).finally(() => socket.close())
}

function askTcp(port: number, message: Buffer): Promise<Buffer | undefined> {
  const socket = connect(port, HOST)
  return new Promise<Buffer | undefined>((resolve) => {
    let received = Buffer.alloc(0)
    const timer = setTimeout(() => resolve(undefined), ANSWER_MS)
    const end = (response: Buffer | undefined): void => {
      clearTimeout(timer)
      resolve(response)
    }
    socket.on('error', () => end(undefined))
    socket.on('close', () => end(undefined))
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      const size = received.length >= 2 ? received.readUInt16BE(0) : Number.POSITIVE_INFINITY
      if (received.length >= 2 + size) end(received.subarray(2, 2 + size))
    })
    const size = Buffer.of(message.length >>> 8, message.length & 255)
    socket.write(Buffer.concat([size, message]))
  }).finally(() => socket.destroy())
}
