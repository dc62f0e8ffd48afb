/**
 * A place to compare at: a Corefile with its files, what to ask there, and both servers over it.
 * @module
 */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ResourceRecord } from '../../src/dns/wire/message.ts'
import { parseFirstRecord } from '../../src/snapshot/records/zone-text.ts'
import { freePort } from '../free-port.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { questionsAbout } from '../real-cluster/questions.ts'
import type { Secret, Vocabulary } from './generate.ts'
import { clusterObjects } from './objects.ts'

const PLACES = join(import.meta.dirname, 'places')
const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')

/** A place, as its folder under `places` says. */
export type Place = Vocabulary & {
  readonly name: string
  readonly folder: string
  /** Whether its answers depend on those before: then it is asked in order. */
  readonly isOrdered: boolean
  /** Whether its Corefile reads the cluster. */
  readonly needsCluster: boolean
  /** What an etcd has to hold for it, if it reads one. */
  readonly keys: readonly { readonly key: string; readonly value: unknown }[]
  /** Zones that have to be there on both before anything is asked: they come from elsewhere. */
  readonly awaited: readonly string[]
  /** Whether its answers tell the client's port, which is another one for each TCP connection. */
  readonly tellsPort: boolean
  /** DNSKEY records of the keys that sign there. */
  readonly signingKeys: readonly ResourceRecord[]
}

/** Both servers over one place. */
export type Servers = {
  /** Ports of the loopback addresses. */
  readonly coredns: number
  readonly kubedoh: number
  readonly stop: () => Promise<void>
}

/** Lists all places. */
export function listPlaces(): Place[] {
  return readdirSync(PLACES)
    .sort()
    .map((name) => {
      const folder = join(PLACES, name)
      const lines = readFileSync(join(folder, 'questions'), 'utf8').trimEnd().split('\n')
      const types = lines.find((line) => line.startsWith('types '))
      const corefile = readFileSync(join(folder, 'Corefile'), 'utf8')
      return {
        name,
        folder,
        names: lines.flatMap(namesOf),
        types: types?.split(' ').slice(1) ?? ['A', 'AAAA', 'TXT', 'SRV', 'MX', 'CNAME', 'PTR'],
        isOrdered: /^\s*(cache|erratic)\b/m.test(corefile),
        awaited: lines.flatMap((line) => /^until (\S+)$/.exec(line)?.[1] ?? []),
        tellsPort: /^\s*whoami$/m.test(corefile),
        needsCluster: corefile.includes('{$KUBECONFIG}'),
        keys: readKeys(folder),
        signingKeys: readSigningKeys(folder),
        secrets: lines.flatMap(secretOf),
        wantsSignatures: /^\s*dnssec\b/m.test(corefile),
      }
    })
}

/** A line names one name, or a zone that the cluster's objects have names in. */
function namesOf(line: string): string[] {
  const [, zone] = /^cluster (\S+)$/.exec(line) ?? []
  if (zone === undefined) return line.includes(' ') ? [] : [line]
  const questions = questionsAbout(clusterObjects(), `${zone}.`)
  return [...new Set(questions.map((question) => question.split(' ')[0] ?? ''))]
}

function secretOf(line: string): Secret[] {
  const [, key, secret] = /^sign (\S+) (\S+)$/.exec(line) ?? []
  return key === undefined || secret === undefined ? [] : [{ key, secret }]
}

function readKeys(folder: string): Place['keys'] {
  const path = join(folder, 'etcd.json')
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : []
}

function readSigningKeys(folder: string): ResourceRecord[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.key'))
    .flatMap((name) => parseFirstRecord(readFileSync(join(folder, name), 'utf8')) ?? [])
}

/** Starts the real CoreDNS and ours with the same files. */
export async function startServers(
  place: Place,
  coredns: string,
  environment: Readonly<Record<string, string>>,
): Promise<Servers> {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-differential-'))
  cpSync(place.folder, folder, { recursive: true })
  const running: Running[] = []
  const corefile = join(folder, 'Corefile')
  const [theirPort, ourPort] = [await freePort(), await freePort()]
  const run = (command: string, args: readonly string[], port: number): Running => {
    const all = [...args, '-conf', corefile, '-dns.port', String(port)]
    const one = start(command, all.map(asFlag(command)), environment, folder)
    running.push(one)
    return one
  }
  const theirs = run(coredns, [], theirPort)
  const ours = run(KUBEDOH, ['serve'], ourPort)
  const stop = async (): Promise<void> => {
    await Promise.all(running.map((one) => one.stop()))
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await Promise.all([theirs.line(/CoreDNS-/), ours.line(/^ready/)])
  } catch (error) {
    await stop()
    throw error
  }
  return { coredns: theirPort, kubedoh: ourPort, stop }
}

/** Go takes one dash or two; our flags have two. */
function asFlag(command: string): (word: string) => string {
  return (word) => (command === KUBEDOH ? word.replace(/^-(?=[a-z])/, '--') : word)
}

/** The CoreDNS that both servers relay to. */
export async function startUpstream(coredns: string): Promise<Running & { address: string }> {
  const folder = join(import.meta.dirname, 'upstream')
  if (!existsSync(folder)) throw new Error(`${folder} is missing`)
  const port = await freePort()
  const args = ['-conf', join(folder, 'Corefile'), '-dns.port', String(port)]
  const running = start(coredns, args, {}, folder)
  await running.line(/CoreDNS-/)
  return { ...running, address: `127.0.0.1:${port}` }
}
