/**
 * What applications in a pod use: getaddrinfo of glibc and musl, Go, Node and Python, with
 * `ndots:5` and a search list, against kubedoh serve and CoreDNS, each with and without autopath.
 * Prints the packets of each look-up.
 * @module
 */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'vitest'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'
import { describeUnless } from '../describe-unless.ts'
import { ROOT } from '../docs/pages.ts'
import { prepareBinaries } from '../real-cluster/binaries.ts'
import type { Lookup, Setup } from './lookups/in-pod.ts'
import { findMissing, preparePython } from './programs.ts'

const HERE = join(import.meta.dirname, 'lookups')
/** Of the server; also the client's, because the kernel chooses it for a connection to itself. */
const ADDRESS = '10.96.0.10'
const RESOLV_CONF = `search shop.svc.cluster.local svc.cluster.local cluster.local
nameserver ${ADDRESS}
options ndots:5
`
/** musl up to 1.2.3 does not retry a truncated response over TCP: it uses what has arrived. */
const TRUNCATES: ReadonlySet<string> = new Set(['musl'])

function endpoints(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `10.244.${i >> 8}.${i & 255}`).sort()
}

const NAMES: Readonly<Record<string, readonly string[]>> = {
  web: ['10.96.12.34'],
  'web.shop': ['10.96.12.34'],
  'web.shop.svc.cluster.local.': ['10.96.12.34'],
  set1: endpoints(1),
  set100: endpoints(100),
  set1000: endpoints(1000),
  'www.example.com': ['192.0.2.80'],
  'www.example.com.': ['192.0.2.80'],
}

const run = promisify(execFile)
const binaries = prepareBinaries()
const { python, missing: noPython } = preparePython()
const missing =
  (process.getuid?.() === 0 ? undefined : 'needs root, for namespaces') ??
  (typeof binaries === 'string' ? binaries : undefined) ??
  noPython ??
  ['gcc', 'musl-gcc', 'go', 'unshare', 'ip', 'dig']
    .map(findMissing)
    .find((one) => one !== undefined)

describeUnless(missing, 'resolvers of applications', () => {
  test('find Services, headless sets and external names, in no more packets than with CoreDNS', async (t) => {
    if (typeof binaries === 'string') return
    const folder = temporaryFolder(t, { 'resolv.conf': RESOLV_CONF })
    const clients = buildClients(folder)
    const kubedoh = join(ROOT, 'bin/kubedoh')
    const setup: Setup = { binaries, kubedoh, clients, names: Object.keys(NAMES), address: ADDRESS }
    const script = `
      set -e
      mount --make-rprivate /
      mount --bind ${folder}/resolv.conf /etc/resolv.conf
      ip link set lo up
      ip address add ${ADDRESS}/32 dev lo
      # kube-apiserver does not start without one.
      ip route add default dev lo
      exec "$@"`
    const inside = ['sh', '-c', script, 'sh', process.execPath, join(HERE, 'in-pod.ts')]
    const { stdout } = await run(
      'unshare',
      ['--net', '--mount', ...inside, JSON.stringify(setup)],
      { maxBuffer: 64 << 20, timeout: 300_000 },
    )
    const lookups: Lookup[] = stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
    process.stdout.write(tableOf(lookups))
    assert.equal(lookups.length, 4 * Object.keys(clients).length * Object.keys(NAMES).length)
    for (const lookup of lookups) checkAddresses(lookup)
    for (const lookup of lookups) checkPackets(lookup, lookups)
  })
})

/** Compiles the clients. */
function buildClients(folder: string): Setup['clients'] {
  const at = (name: string): string => join(folder, name)
  const source = join(HERE, 'lookup.c')
  execFileSync('gcc', ['-o', at('glibc'), source])
  execFileSync('musl-gcc', ['-static', '-o', at('musl'), source])
  const env = { ...process.env, CGO_ENABLED: '0' }
  execFileSync('go', ['build', '-o', at('go'), join(HERE, 'lookup.go')], { cwd: folder, env })
  const node = `const { promises } = require('node:dns')
    promises.lookup(process.argv[1], { all: true }).then((all) => all.forEach((one) => console.log(one.address)))`
  const cares = `const { promises } = require('node:dns')
    promises.resolve4(process.argv[1]).then((all) => all.forEach((one) => console.log(one)))`
  const getaddrinfo = `import socket, sys
for address in sorted({one[4][0] for one in socket.getaddrinfo(sys.argv[1], None)}): print(address)`
  const dnspython = `import dns.resolver, sys
for one in dns.resolver.resolve(sys.argv[1], "A", search=True): print(one)`
  return {
    glibc: [at('glibc'), 'NAME'],
    musl: [at('musl'), 'NAME'],
    Go: [at('go'), 'NAME'],
    'Node lookup': [process.execPath, '-e', node, 'NAME'],
    'Node resolve4': [process.execPath, '-e', cares, 'NAME'],
    'Python socket': [python, '-c', getaddrinfo, 'NAME'],
    dnspython: [python, '-c', dnspython, 'NAME'],
  }
}

/** c-ares's `resolve4` does not use the search list, so that only absolute names exist for it. */
function isFound({ client, name }: Lookup): boolean {
  return client !== 'Node resolve4' || name.split('.').length > 2
}

function checkAddresses(lookup: Lookup): void {
  const { server, client, name, addresses, error } = lookup
  const label = `${client} looks up ${name} at ${server}: ${error}`
  const wanted = isFound(lookup) ? (NAMES[name] ?? []) : []
  const found = [...new Set(addresses)].sort()
  if (TRUNCATES.has(client) && wanted.length > 1) {
    assert.ok(found.length > 0, label)
    assert.deepEqual(
      found.filter((one) => !wanted.includes(one)),
      [],
      label,
    )
  } else assert.deepEqual(found, wanted, label)
}

/**
 * Checks that a look-up takes no more packets than with CoreDNS, but for TCP's
 * acknowledgements.
 */
function checkPackets(lookup: Lookup, all: readonly Lookup[]): void {
  const { server, client, name, hasAutopath, packets } = lookup
  if (server === 'CoreDNS') return
  const other = all.find(
    (one) =>
      one.server !== server &&
      one.client === client &&
      one.name === name &&
      one.hasAutopath === hasAutopath,
  )
  const slack = name.startsWith('set1000') || name === 'set100' ? 12 : 0
  const label = `${client} looks up ${name}${hasAutopath ? ' with autopath' : ''}`
  assert.ok(packets > 0, label)
  assert.ok(packets <= (other?.packets ?? 0) + slack, `${label}: ${packets}, ${other?.packets}`)
}

/** Formats the packets: kubedoh / CoreDNS without autopath, then with it. */
function tableOf(lookups: readonly Lookup[]): string {
  const cell = (client: string, name: string, hasAutopath: boolean): string =>
    ['kubedoh', 'CoreDNS']
      .map((server) => {
        const found = lookups.find(
          (one) =>
            one.server === server &&
            one.client === client &&
            one.name === name &&
            one.hasAutopath === hasAutopath,
        )
        return found?.packets ?? '-'
      })
      .join('/')
  const clients = [...new Set(lookups.map(({ client }) => client))]
  const rows = clients.flatMap((client) =>
    Object.keys(NAMES).map((name) => {
      const [without, withIt] = [cell(client, name, false), cell(client, name, true)]
      return `${client.padEnd(14)} ${name.padEnd(28)} ${without.padEnd(9)} ${withIt}`
    }),
  )
  const head = 'packets of a look-up, kubedoh/CoreDNS: without autopath, with autopath'
  return `${[head, ...rows].join('\n')}\n`
}
