/**
 * The first hour with kubedoh as transcripts, `first-hour/*.txt`: commands, what they print, and
 * their exit status. They run from a checkout and from the package that npm would publish, with the
 * Node of the optional package and with one on the PATH. `WRITE_TRANSCRIPTS=1` writes them anew.
 * `test/image/package.suite.ts` packs the package.
 * @module
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, it } from 'vitest'
import { freePort } from '../free-port.ts'

const ROOT = join(import.meta.dirname, '../..')
const TRANSCRIPTS = join(import.meta.dirname, 'first-hour')
const TIMEOUT_MS = 90_000
const FILES: Readonly<Record<string, string>> = {
  Corefile: `. {
    bind 127.0.0.1
    errors
    kubernetes cluster.local in-addr.arpa {
        fallthrough in-addr.arpa
    }
    acl example.org {
        block
    }
    ready 127.0.0.1:8181
}
`,
  'gateway.Corefile': `. {
    kubernetes prod.example.org {
        cluster prod
    }
}
`,
}
/** Waits until a file has a line that fits, and prints the last such line. */
const SHOWS = `shows() {
  turns=0
  until grep -qs "$1" "$2"; do
    turns=$((turns + 1))
    [ $turns -lt 400 ] || { cat "$2"; return 1; }
    sleep 0.05
  done
  grep "$1" "$2" | tail -n 1
}
`
/** The ports of the transcripts, for which free ones stand in. */
const PORTS = ['5353', '8787', '8181']
/** What is different each time. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/kdt_[0-9a-f]{12}_[\w-]{43}/g, 'kdt_ID_SECRET'],
  [/\b[0-9a-f]{64}\b/g, 'SHA256'],
  [/(TOKEN=|SIGNING_KEY=|"publicKey":")[\w-]{43,}/g, '$1SECRET'],
  [/\btoken [0-9a-f]{12}\b/g, 'token ID'],
  [/^[0-9a-f]{12} /gm, 'ID           '],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'],
  [/\bgeneration \d+/g, 'generation N'],
  [/\b\d+\.\d ms\b/g, 'T ms'],
  [/( SOA \S+ \S+) \d+/g, '$1 SERIAL'],
]

const scratch = mkdtempSync(join(tmpdir(), 'kubedoh-first-hour-'))

/** A place where kubedoh is installed, and what to run it with. */
type Place = { readonly name: string; readonly environment: Readonly<Record<string, string>> }

function put(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text, { mode })
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(target, path)
}

/** Installs a checkout, or the package as npm does. The package has no dependencies. */
function install(packed: string | undefined, hasOptional: boolean): Place {
  const name = `${packed === undefined ? 'unpacked' : 'packed'}, ${hasOptional ? 'with' : 'without'} the optional package`
  const place = join(scratch, name.replaceAll(/\W+/g, '-'))
  const modules = join(place, 'node_modules')
  if (packed === undefined) {
    mkdirSync(join(place, 'bin'), { recursive: true })
    copyFileSync(join(ROOT, 'bin/kubedoh'), join(place, 'bin/kubedoh'))
    link(join(ROOT, 'src'), join(place, 'src'))
    link(join(place, 'bin/kubedoh'), join(place, 'path/kubedoh'))
  } else {
    const { dependencies } = JSON.parse(readFileSync(join(packed, 'package.json'), 'utf8'))
    assert.equal(dependencies, undefined)
    mkdirSync(modules, { recursive: true })
    execFileSync('cp', ['-R', packed, join(modules, 'kubedoh')])
    link('../kubedoh/bin/kubedoh', join(modules, '.bin/kubedoh'))
    link(join(modules, '.bin/kubedoh'), join(place, 'path/kubedoh'))
  }
  // The Node that is not to run says so; the other one is that of this test.
  if (hasOptional) {
    link(process.execPath, join(modules, '.bin/node'))
    put(join(place, 'path/node'), '#!/bin/sh\necho v18.0.0\n', 0o755)
  } else link(process.execPath, join(place, 'path/node'))
  // Each run of sources would compile all of them; the package keeps its own compiled code.
  const { NODE_COMPILE_CACHE = '' } = packed === undefined ? process.env : {}
  return { name, environment: { PATH: `${place}/path:/usr/bin:/bin`, NODE_COMPILE_CACHE } }
}

/** The commands of a transcript: from `$ ` on, with the lines of an open quote. */
function commandsOf(transcript: string): string[] {
  const blocks = transcript.split(/^\$ /m).slice(1)
  return blocks.map((block) => {
    const [first = '', second = ''] = block.split('\n')
    return (first.match(/'/g)?.length ?? 0) % 2 === 0 ? first : `${first}\n${second}`
  })
}

/** Runs a transcript's commands in one shell, and writes down what comes. */
async function run(transcript: string, environment: Place['environment']): Promise<string> {
  const folder = mkdtempSync(join(scratch, 'run-'))
  const free = await Promise.all(PORTS.map(() => freePort()))
  const swap = (text: string, from: readonly unknown[], to: readonly unknown[]): string =>
    from.reduce<string>((now, port, i) => now.replaceAll(`${port}`, `${to[i]}`), text)
  for (const [name, text] of Object.entries(FILES)) {
    writeFileSync(join(folder, name), swap(text, PORTS, free))
  }
  copyFileSync(join(ROOT, 'demo/shop.yaml'), join(folder, 'shop.yaml'))
  const script = commandsOf(transcript).map((command) => {
    const quoted = command.replaceAll("'", "'\\''")
    return `printf '%s\\n' '$ ${quoted}'\n${swap(command, PORTS, free)}\necho "[exit $?]"\n`
  })
  const { stdout, signal } = spawnSync('/bin/sh', ['-c', `exec 2>&1\n${SHOWS}${script.join('')}`], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...environment, HOME: folder, LOCAL_IPS: '192.0.2.53' },
    timeout: TIMEOUT_MS,
  })
  assert.equal(signal, null, `the shell ended by ${signal}:\n${stdout}`)
  const head = transcript.slice(0, transcript.indexOf('$ '))
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const same = swap(stdout, free, PORTS).replaceAll(version, 'VERSION')
  return VARYING.reduce((text, [pattern, word]) => text.replace(pattern, word), head + same)
}

/** Declares the tests, for the package in a folder and for the checkout. */
export function testFirstHour(packed: string): void {
  const checkout = [install(undefined, true), install(undefined, false)] as const
  const published = [install(packed, true), install(packed, false)] as const
  // Each way to install starts; what comes after depends on it less, and takes longer.
  const where: Readonly<Record<string, readonly Place[]>> = {
    '1-start.txt': [...checkout, ...published],
    '2-serve.txt': [checkout[0], published[1]],
    '3-gateway.txt': [published[1]],
  }
  describe('the first hour', () => {
    afterAll(() => rmSync(scratch, { recursive: true, force: true }))
    for (const name of readdirSync(TRANSCRIPTS)) {
      for (const { name: place, environment } of where[name] ?? []) {
        it(`goes as written: ${name}, ${place}`, async () => {
          const file = join(TRANSCRIPTS, name)
          const written = readFileSync(file, 'utf8')
          const came = await run(written, environment)
          if (process.env.WRITE_TRANSCRIPTS === '1') writeFileSync(file, came)
          else assert.equal(came, written)
        })
      }
    }
  })
}
