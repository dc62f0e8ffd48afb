/**
 * Programs of Debian packages, unpacked into the user's cache rather than installed.
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../build/cache-folder.ts'

/**
 * Unpacks packages into a folder of the cache, or finds them there. They keep the version of the
 * first run.
 * @param release a release of Debian, such as `trixie`; without it, that of this machine
 * @returns the folder, which has `usr`
 * @throws {Error} when apt cannot download a package
 */
export function unpackPackages(
  name: string,
  packages: readonly string[],
  release?: string,
): string {
  const folder = cacheFolder(name)
  if (existsSync(folder)) return folder
  process.stderr.write(`downloading ${packages.join(', ')}\n`)
  const fresh = `${folder}.new`
  rmSync(fresh, { recursive: true, force: true })
  mkdirSync(fresh, { recursive: true })
  const options = ['-qq', '-oAPT::Sandbox::User=', ...(release ? sourcesOf(release, fresh) : [])]
  const download = [...options, 'download', ...packages]
  if (release !== undefined || spawnSync('apt-get', download, { cwd: fresh }).status !== 0) {
    spawnSync('apt-get', [...options, 'update'])
    execFileSync('apt-get', download, { cwd: fresh })
  }
  for (const file of readdirSync(fresh)) {
    if (file.endsWith('.deb')) execFileSync('dpkg-deb', ['-x', join(fresh, file), fresh])
    rmSync(join(fresh, file), { recursive: true, force: !file.endsWith('.deb') })
  }
  renameSync(fresh, folder)
  return folder
}

/** Returns packages with all on which they depend, for {@link unpackPackages}. */
export function resolvePackages(packages: readonly string[]): string[] {
  const kinds = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances']
  const options = ['depends', '--recurse', ...kinds.map((kind) => `--no-${kind}`)]
  const run = () => spawnSync('apt-cache', [...options, ...packages], { encoding: 'utf8' })
  let result = run()
  if (result.status !== 0) {
    spawnSync('apt-get', ['-qq', 'update'])
    result = run()
  }
  if (result.status !== 0) throw new Error(`apt-cache: ${result.stderr}`)
  // Lines of packages are not indented; virtual ones are in angle brackets.
  return [...new Set(result.stdout.match(/^[a-z\d]\S*$/gm))].sort()
}

/** Returns options by which apt reads another release from this machine's mirror. */
function sourcesOf(release: string, folder: string): string[] {
  const format = ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages']
  const [mirror = ''] = execFileSync('apt-get', format, { encoding: 'utf8' }).split('\n')
  const list = join(folder, 'sources.list')
  writeFileSync(list, `deb ${mirror} ${release} main\n`)
  mkdirSync(join(folder, 'lists/partial'), { recursive: true })
  return [
    `-oDir::Etc::SourceList=${list}`,
    '-oDir::Etc::SourceParts=/dev/null',
    `-oDir::State::Lists=${join(folder, 'lists')}`,
    '-oDir::Cache::pkgcache=',
    '-oDir::Cache::srcpkgcache=',
  ]
}
