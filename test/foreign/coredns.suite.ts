/**
 * What CoreDNS's own tests say of Corefiles, said of ours: each example in its READMEs starts, and
 * each input of its plugins' setup tests is accepted or refused as there.
 * @module
 */
import { deepEqual, ok } from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { LEFT_OUT } from '../../src/resolver/chain/left-out.ts'
import { newKeyFiles } from '../zone-keys.ts'
import {
  coreDnsFolder,
  type ReadmeBlock,
  readReadmeBlocks,
  readSetupCases,
  type SetupCase,
} from './coredns-module.ts'
import { DEVIATIONS, deviationOf } from './deviations.ts'

const LEFT = new Set(LEFT_OUT.flatMap(({ plugins }) => plugins))
/** Options that a table of the plugin's tests has without the directive around them. */
const OPTIONS_OF: Readonly<Record<string, RegExp>> = {
  cache: /^(serve_stale|servfail|disable|keepttl)/,
}
/** What a directive needs beside it. */
const BESIDE: Readonly<Record<string, string>> = { k8s_external: 'kubernetes cluster.local' }

const folder = mkdtempSync(join(tmpdir(), 'kubedoh-foreign-'))
let module = ''

beforeAll(() => {
  module = coreDnsFolder()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("CoreDNS's READMEs", () => {
  it('have Corefiles that all start, but for those of plugins that are left out', async () => {
    const files = workFolder('readme')
    // An example listens at `localhost:{$PORT}`.
    process.env.PORT ??= '9153'
    writeFiles(files, newKeyFiles('Kexample.org.+013+45330', 'example.org.', { flags: 256 }))
    const blocks = readReadmeBlocks(module)
    const left = blocks.filter(({ plugin }) => LEFT.has(plugin))
    const wrong: string[] = []
    for (const block of blocks.filter((one) => !left.includes(one))) {
      // Without a server block, CoreDNS listens on port 53 for no plugin; kubedoh refuses the file.
      const isSnippet = /^\(\w+\) \{/.test(block.corefile)
      const said = await check(isSnippet ? `${block.corefile}. {\n}\n` : block.corefile, files)
      const isDeviation = deviationOf({ plugin: block.plugin, input: block.corefile }) !== undefined
      if (said !== undefined && !isDeviation) wrong.push(`${placeOf(block)}: ${said}`)
    }
    process.stdout.write(`README blocks: ${blocks.length}, left out: ${left.length}\n`)
    ok(blocks.length > 100, `${blocks.length} blocks`)
    deepEqual(wrong, [])
  })
})

describe("the inputs of CoreDNS's setup tests", () => {
  it('are accepted and refused as there', async () => {
    const cases = readSetupCases(module)
    const judged = cases.filter(({ plugin }) => !LEFT.has(plugin))
    const used = new Set<unknown>()
    const wrong: string[] = []
    for (const one of judged) {
      const said = await check(corefileOf(one), filesOf(one.plugin))
      if ((said !== undefined) === one.shouldErr) continue
      const deviation = deviationOf(one)
      if (deviation !== undefined) used.add(deviation)
      else wrong.push(`${one.file}:${one.line} ${JSON.stringify(one.input)}: ${said ?? 'accepted'}`)
    }
    const counts = `${judged.length} asked, ${cases.length - judged.length} of plugins left out`
    process.stdout.write(`setup tests: ${counts}, ${DEVIATIONS.length} kinds of deviations\n`)
    ok(judged.length > 500, counts)
    deepEqual(wrong, [])
    deepEqual(
      DEVIATIONS.filter((one) => !used.has(one)).map(({ reason }) => reason),
      [],
      'deviations that are none',
    )
  })
})

function placeOf({ plugin, line }: ReadmeBlock): string {
  return `plugin/${plugin}/README.md:${line}`
}

function corefileOf({ plugin, input }: SetupCase): string {
  const isBare = OPTIONS_OF[plugin]?.test(input.trim()) === true
  const directive = isBare ? `${plugin} {\n${input}\n}` : input
  return `. {\n${BESIDE[plugin] ?? ''}\n${directive}\n}\n`
}

const prepared = new Map<string, string>()

/** A folder with what a plugin's tests read, and what they make before. */
function filesOf(plugin: string): string {
  const known = prepared.get(plugin)
  if (known !== undefined) return known
  const files = workFolder(plugin)
  for (const name of readdirSync(join(module, 'plugin', plugin))) {
    symlinkSync(join(module, 'plugin', plugin, name), join(files, name))
  }
  if (plugin === 'dnssec') {
    writeFiles(files, newKeyFiles('Kcluster.local', 'cluster.local.', { flags: 256 }))
    writeFiles(files, newKeyFiles('ksk_Kcluster.local', 'cluster.local.'))
  }
  if (plugin === 'loadbalance') writeFileSync(join(files, 'wf'), 'w1.example.org\n10.0.0.1 3\n')
  prepared.set(plugin, files)
  return files
}

function writeFiles(to: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(to, name), text)
}

function workFolder(name: string): string {
  return mkdtempSync(join(folder, `${name}-`))
}

/** Has `kubedoh check` judge a Corefile. @returns what is wrong with it */
async function check(corefile: string, files: string): Promise<string | undefined> {
  const path = join(files, 'Corefile.judged')
  writeFileSync(path, corefile)
  const stderr = new PassThrough()
  const chunks: Buffer[] = []
  stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
  const output = { stdout: new PassThrough().resume(), stderr }
  const status = await main(['check', path], output)
  return status === 0 ? undefined : Buffer.concat(chunks).toString().replaceAll(path, '').trim()
}
