/**
 * CoreDNS's `kubernetes` plugin as a peer: built from its Go module into a folder that git ignores,
 * and asked from bytes to bytes in a process of its own.
 * @module
 */
import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { cacheFolder } from '../build/cache-folder.ts'
import type { ApiObject } from './cluster-objects.ts'
import type { Questions } from './generated-server.ts'

const SOURCE = join(import.meta.dirname, 'coredns')
const FILES = ['main.go', 'go.mod']
const CACHE = cacheFolder(`coredns-plugin-${digestOf(FILES)}`)
const BINARY = join(CACHE, 'coredns-plugin')

/** The plugin, with its objects listed. */
export class CoreDnsPlugin {
  private readonly child: ChildProcessByStdio<Writable, Readable, null>
  private readonly lines: AsyncIterator<string>
  private readonly folder: string

  private constructor(folder: string, files: readonly string[]) {
    this.folder = folder
    this.child = spawn(BINARY, [...files], {
      stdio: ['pipe', 'pipe', 'inherit'],
      // Its client then lists and watches, as our small API server has it.
      env: { ...process.env, GOMAXPROCS: '1', KUBE_FEATURE_WatchListClient: 'false' },
    })
    this.lines = createInterface(this.child.stdout)[Symbol.asyncIterator]()
  }

  /** Starts it. `undefined` when there is no Go to build it with. */
  static async start(
    objects: Iterable<ApiObject>,
    questions: readonly Questions[],
  ): Promise<CoreDnsPlugin | undefined> {
    if (!build()) return undefined
    const folder = mkdtempSync(join(tmpdir(), 'kubedoh-bench-'))
    const list = join(folder, 'objects.json')
    const items = [...objects].map((object) => JSON.stringify(object)).join(',\n')
    writeFileSync(list, `{"items":[${items}]}`)
    const files = questions.map(({ messages }, i) => {
      const path = join(folder, `queries-${i}`)
      writeFileSync(path, Buffer.concat(messages.flatMap(framed)))
      return path
    })
    const plugin = new CoreDnsPlugin(folder, [list, ...files])
    await plugin.line()
    return plugin
  }

  /** Answers the questions with an index, and resolves with nanoseconds for one. */
  async measure(index: number): Promise<number> {
    this.child.stdin.write(`${index}\n`)
    return Number(await this.line())
  }

  /** Ends it. */
  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.child.once('exit', resolve))
    this.child.stdin.end()
    await gone
    rmSync(this.folder, { recursive: true })
  }

  private async line(): Promise<string> {
    const { value, done } = await this.lines.next()
    if (done === true) throw new Error('CoreDNS’s plugin has ended')
    return value
  }
}

function digestOf(files: readonly string[]): string {
  const hash = createHash('sha256')
  for (const name of files) hash.update(readFileSync(join(SOURCE, name)))
  return hash.digest('hex').slice(0, 12)
}

function build(): boolean {
  if (existsSync(BINARY)) return true
  try {
    execFileSync('go', ['version'])
  } catch {
    return false
  }
  process.stderr.write('building CoreDNS’s plugin, this once\n')
  mkdirSync(CACHE, { recursive: true })
  for (const name of FILES) copyFileSync(join(SOURCE, name), join(CACHE, name))
  execFileSync('go', ['mod', 'tidy'], { cwd: CACHE, stdio: 'ignore' })
  execFileSync('go', ['build', '-trimpath', '-o', BINARY, '.'], { cwd: CACHE, stdio: 'inherit' })
  return true
}

function framed(message: Uint8Array): [Uint8Array, Uint8Array] {
  return [Uint8Array.of(message.length >>> 8, message.length & 255), message]
}
