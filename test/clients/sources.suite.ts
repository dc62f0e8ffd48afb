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
import { freePort, start } from '../cluster/processes.ts'
import { describeUnless } from '../describe-unless.ts'
import { sourcePages } from '../docs/pages.ts'
import { findMissing, shell } from './programs.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const CLIENTS = ['dig +noall +answer', 'kdig +noall +answer']

describeUnless(findMissing('dig') ?? findMissing('kdig') ?? false, 'examples of sources', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-sources-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  for (const { page, corefile, objects, answers } of sourcePages()) {
    it(`${page} gives its answers to other decoders`, async () => {
      const [conf, file] = [join(folder, 'Corefile'), join(folder, 'objects.yaml')]
      writeFileSync(conf, corefile.replace('{', '{\n    bind 127.0.0.1'))
      writeFileSync(file, `apiVersion: v1\nkind: List\nitems:\n${objects}`)
      const port = await freePort()
      const args = ['serve', '--conf', conf, '--objects', file, '--dns.port', String(port)]
      const server = start(KUBEDOH, args)
      try {
        await server.line(/^ready/)
        for (const line of answers) {
          const [name, , , type] = line.split(' ')
          for (const client of CLIENTS) {
            const read = await shell(`${client} -p ${port} @127.0.0.1 ${name} ${type}`)
            // Knot's client prints no quotes round what needs none.
            equal(plain(read), plain(line), client)
          }
        }
      } finally {
        await server.stop()
      }
    })
  }
})

function plain(text: string): string {
  return text.trim().replaceAll('"', '').replaceAll(/\s+/g, ' ')
}
