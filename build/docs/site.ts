/**
 * `npm run docs`: the documentation as a site with search, at a port of this machine;
 * `npm run docs -- build` writes it to `.cache/docs/site`. VitePress is installed at the first run:
 * its 125 packages would more than double the time of `npm ci`, and few need the site.
 * @module
 */
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { markdownFiles } from './markdown-links.ts'
import { brokenSiteLinks } from './site-links.ts'

const HERE = import.meta.dirname
const ROOT = join(HERE, '../..')
const SITE = join(ROOT, '.cache/docs')
const VITEPRESS = join(SITE, 'node_modules/vitepress/bin/vitepress.js')

const [command = 'dev', ...flags] = process.argv.slice(2)
if (command !== 'dev' && command !== 'build') {
  process.stderr.write('usage: npm run docs [-- build] [VitePress flags]\n')
  process.exit(2)
}
install()
linkPages()
run(process.execPath, [VITEPRESS, command, SITE, ...flags])
if (command === 'build') {
  const broken = brokenSiteLinks(join(SITE, 'site'))
  for (const line of broken) process.stderr.write(`${line}\n`)
  process.stdout.write(`${join(SITE, 'site')}\n`)
  process.exitCode = broken.length === 0 ? 0 : 1
}

/** Installs VitePress as the lock file has it, unless it is installed. */
function install(): void {
  mkdirSync(join(SITE, '.vitepress'), { recursive: true })
  // VitePress's esbuild does not know the target of our tsconfig.json: another one hides it, and
  // Node loads the configuration.
  writeFileSync(join(SITE, 'tsconfig.json'), '{}')
  const config = pathToFileURL(join(HERE, 'config.ts'))
  const text = `export default (await import('${config}')).default\n`
  writeFileSync(join(SITE, '.vitepress/config.mjs'), text)
  const lock = readFileSync(join(HERE, 'package-lock.json'), 'utf8')
  const installed = join(SITE, 'installed-lock.json')
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return
  process.stdout.write('installing VitePress into .cache/docs: once, half a minute\n')
  for (const file of ['package.json', 'package-lock.json']) {
    copyFileSync(join(HERE, file), join(SITE, file))
  }
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--progress'])
  writeFileSync(installed, lock)
}

/** Links what has pages into the folder of the site, so that pages find what is installed there. */
function linkPages(): void {
  const pages = join(SITE, 'pages')
  rmSync(pages, { recursive: true, force: true })
  mkdirSync(pages)
  const tops = new Set(markdownFiles(ROOT).map((file) => file.split('/', 1)[0] ?? ''))
  for (const top of tops) if (top !== '.github') symlinkSync(join(ROOT, top), join(pages, top))
}

function run(program: string, words: readonly string[]): void {
  const { status, error } = spawnSync(program, words, { cwd: SITE, stdio: 'inherit' })
  if (error !== undefined) throw error
  if (status !== 0) process.exit(status ?? 1)
}
