/**
 * Generated mistakes in Corefiles: does the real CoreDNS start with one, and does `kubedoh check`
 * take it? `KUBEDOH_SEED=N` makes other ones, `KUBEDOH_CASES=N` more.
 * @module
 */
import { deepEqual, ok } from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { it } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { freePort } from '../free-port.ts'
import { prepareCoreDns } from '../real-cluster/binaries.ts'
import { start } from '../real-cluster/processes.ts'
import { seededRandom } from './generate.ts'
import { mutateCorefile } from './mutate.ts'
import { listPlaces } from './place.ts'

const { KUBEDOH_SEED = '20261123', KUBEDOH_CASES = '150' } = process.env
const CASES = Number(KUBEDOH_CASES)
const ENVIRONMENT = { UPSTREAM: '127.0.0.1:9', UPSTREAM_DEAD: '127.0.0.1:9', ODD: 'a.example.org' }
/** Their start needs a cluster or an etcd. */
const ELSEWHERE = /KUBECONFIG|ETCD_ENDPOINT/

/** Who accepts a Corefile that the other one refuses, why, and how the refusal reads. */
const DEVIATIONS: readonly { accepts: 'CoreDNS' | 'kubedoh'; reason: string; says: RegExp }[] = [
  {
    accepts: 'CoreDNS',
    reason: 'what is not a domain name is an error; CoreDNS drops it, and the plugin gets less',
    says: /is not a domain name/,
  },
  {
    accepts: 'CoreDNS',
    reason: 'a server block without a zone is an error; CoreDNS drops the whole block',
    says: /expected a zone before "\{"/,
  },
  {
    accepts: 'CoreDNS',
    reason: 'words that CoreDNS skips are errors',
    says: /takes no arguments|has no options|takes no block|argument\(s\), got/,
  },
  {
    accepts: 'CoreDNS',
    reason: 'a port has 16 bits, and a brace belongs to the block it is in',
    says: /has no port|closes nothing|no plugin "/,
  },
  {
    accepts: 'CoreDNS',
    reason: 'a folder is no list of upstreams',
    says: /"\." is neither \[tls/,
  },
  {
    accepts: 'kubedoh',
    reason: 'a folder in the place of a zone file is a missing file, with a warning',
    says: /is a directory/,
  },
  {
    accepts: 'kubedoh',
    reason: 'the name of an upstream is resolved when it is needed, not once at the start',
    says: /failed to resolve/,
  },
  {
    accepts: 'kubedoh',
    reason: 'a file that lists upstreams may be written later; until then, a warning',
    says: /not an IP address or file: "\.{0,2}\/|no nameservers found/,
  },
  {
    accepts: 'kubedoh',
    reason: 'an empty block is none',
    says: /Unexpected token '\{'|unknown property '\{'|only be used once|no rule type/,
  },
  {
    accepts: 'kubedoh',
    reason: 'words of old versions are translated, with a warning',
    says: /unknown property|Wrong argument count/,
  },
]

it('CoreDNS and kubedoh accept the same Corefiles', { timeout: 600_000 }, async () => {
  const coredns = prepareCoreDns()
  Object.assign(process.env, ENVIRONMENT)
  const places = listPlaces().filter(({ folder }) => !ELSEWHERE.test(corefileIn(folder)))
  const random = seededRandom(Number(KUBEDOH_SEED))
  const wrong: string[] = []
  const counts = { accepted: 0, different: 0 }
  for (let i = 0; i < CASES; i++) {
    const place = places[i % places.length]
    if (place === undefined) throw new Error('there are no places')
    const text = mutateCorefile(corefileIn(place.folder), random)
    const folder = mkdtempSync(join(tmpdir(), 'kubedoh-acceptance-'))
    cpSync(place.folder, folder, { recursive: true })
    writeFileSync(join(folder, 'Corefile'), text)
    const theirs = await refusalOfCoreDns(coredns, folder)
    const ours = await refusalOfOurs(folder)
    rmSync(folder, { recursive: true })
    if (theirs === undefined) counts.accepted++
    if ((theirs === undefined) === (ours === undefined)) continue
    const accepts = theirs === undefined ? 'CoreDNS' : 'kubedoh'
    const said = theirs ?? ours ?? ''
    counts.different++
    if (DEVIATIONS.some((one) => one.accepts === accepts && one.says.test(said))) continue
    wrong.push(`${place.name}, case ${i}: only ${accepts} accepts it: ${said}\n${text}`)
  }
  process.stdout.write(`${CASES} Corefiles: ${JSON.stringify(counts)}\n`)
  ok(counts.accepted > CASES / 5 && counts.accepted < CASES, `${counts.accepted} accepted`)
  deepEqual(wrong, [])
})

function corefileIn(folder: string): string {
  return readFileSync(join(folder, 'Corefile'), 'utf8')
}

/** Starts CoreDNS. @returns what it says if it ends */
async function refusalOfCoreDns(coredns: string, folder: string): Promise<string | undefined> {
  const args = ['-conf', 'Corefile', '-dns.port', String(await freePort())]
  const running = start(coredns, args, ENVIRONMENT, folder)
  try {
    await running.line(/^CoreDNS-/)
    return undefined
  } catch {
    return running.tail()
  } finally {
    running.child.kill('SIGKILL')
    await running.stop()
  }
}

async function refusalOfOurs(folder: string): Promise<string | undefined> {
  const stderr = new PassThrough()
  const chunks: Buffer[] = []
  stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
  const output = { stdout: new PassThrough().resume(), stderr }
  const status = await main(['check', '--for', 'serve', join(folder, 'Corefile')], output)
  return status === 0 ? undefined : Buffer.concat(chunks).toString().replaceAll(folder, '')
}
