/**
 * The examples of docs/sources as BIND's and Knot's clients read them from the wire. Run by
 * `npm run test:clients`.
 * @module
 */
import { equal } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, it } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { sourcePages } from '../docs/pages.ts'
import { freePort } from '../free-port.ts'
import { start } from '../real-cluster/processes.ts'
import { findMissing, shell } from './programs.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
/** Stands for the clients in a cluster of the pages, which have addresses of 10.0.0.0/8. */
const INSIDE = '127.0.0.2'
const PROGRAMS = ['dig +noall +answer', 'kdig +noall +answer']

describeUnless(findMissing('dig') ?? findMissing('kdig') ?? false, 'examples of sources', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-sources-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  for (const { page, corefile, objects, keys, answers } of sourcePages()) {
    it(`${page} gives its answers to other decoders`, async () => {
      const [conf, file] = [join(folder, 'Corefile'), join(folder, 'objects.yaml')]
      const etcd = join(folder, 'etcd.json')
      const stored = Object.entries(keys).map(([key, value]) => ({ key, value }))
      writeFileSync(etcd, JSON.stringify(stored))
      writeFileSync(conf, loopback(corefile))
      writeFileSync(file, objects === '[]' ? 'apiVersion: v1\nkind: List\nitems: []\n' : objects)
      const port = await freePort()
      const sources = ['--objects', file, '--etcd', etcd]
      const args = ['serve', '--conf', conf, ...sources, '--dns.port', String(port)]
      const server = start(KUBEDOH, args)
      try {
        await server.line(/^ready/)
        for (const { line, client } of answers) {
          const [name, , , type] = line.split(' ')
          const from = client === '' ? '127.0.0.1' : INSIDE
          for (const program of PROGRAMS) {
            const read = await shell(`${program} -b ${from} -p ${port} @127.0.0.1 ${name} ${type}`)
            equal(plain(read), plain(line), program)
          }
        }
      } finally {
        await server.stop()
      }
    })
  }
})

/** Returns a Corefile that serves on loopback, and takes `INSIDE` for a client in the cluster. */
function loopback(corefile: string): string {
  const bound = corefile.replaceAll(/^(\S.*) \{$/gm, '$1 {\n    bind 127.0.0.1')
  return bound.replaceAll('10.0.0.0/8', `${INSIDE}/32`)
}

/** Knot's client prints no quotes round what needs none. */
function plain(text: string): string {
  return text.trim().replaceAll('"', '').replaceAll(/\s+/g, ' ')
}
