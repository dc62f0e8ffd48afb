/**
 * Runs the commands of the pages in docs/migration: kubedoh as it is, kubectl, oc and helm as
 * stand-ins that write down their arguments, and print the page's example when they `get` an
 * object.
 * @module
 */
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesBelow, ROOT, read } from './pages.ts'

/** The folder of the pages. */
const FOLDER = 'docs/migration'
const RECORDER = `#!/bin/sh
{ printf '%s\\037' "\${0##*/}" "$@"; printf '\\n'; } >>"$CALLS"
for word; do
  if [ "$word" = get ]; then cat "$EXAMPLE"; exit; fi
done
`
const KUBEDOH = `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'src/cli/run.ts')}' "$@"\n`

/** A page whose commands ran. */
export type MigrationRun = {
  readonly page: string
  /** The folder in which they ran. */
  readonly folder: string
  readonly status: number | null
  readonly stderr: string
  /** The Corefile that they wrote, and the one that the page promises. */
  readonly written: string
  readonly promised: string
  /** Each run of kubectl, oc and helm: the program and its arguments. */
  readonly calls: readonly (readonly string[])[]
}

/** Paths of the pages, but for the overview. */
export const MIGRATION_PAGES: readonly string[] = filesBelow(FOLDER, '.md').filter(
  (page) => !page.endsWith('README.md'),
)

function blocksOf(text: string, languages: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`(?:${languages})\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, body = '']) => body,
  )
}

/** Runs all commands of a page in a new folder below `scratch`, in one shell. */
export function runMigration(page: string, scratch: string = tmpdir()): MigrationRun {
  const folder = mkdtempSync(join(scratch, 'migration-'))
  const text = read(page)
  const [example = '', ...results] = blocksOf(text, 'yaml|corefile')
  const tools = join(folder, 'tools')
  mkdirSync(tools)
  for (const name of ['kubectl', 'oc', 'helm', 'sleep']) {
    writeFileSync(join(tools, name), RECORDER, { mode: 0o755 })
  }
  writeFileSync(join(tools, 'kubedoh'), KUBEDOH, { mode: 0o755 })
  writeFileSync(join(folder, 'example'), example)
  symlinkSync(join(ROOT, 'deploy'), join(folder, 'deploy'))
  const calls = join(folder, 'calls')
  const { status, stderr } = spawnSync('sh', ['-ec', blocksOf(text, 'sh').join('')], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      PATH: `${tools}:/usr/bin:/bin`,
      CALLS: calls,
      EXAMPLE: join(folder, 'example'),
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    },
  })
  const lines = existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : []
  const corefile = join(folder, 'Corefile')
  return {
    page,
    folder,
    status,
    stderr,
    written: existsSync(corefile) ? readFileSync(corefile, 'utf8') : '',
    promised: results.at(-1) ?? '',
    calls: lines.map((line) => line.split('\x1f').slice(0, -1)),
  }
}
