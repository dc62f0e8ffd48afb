/**
 * Where suites keep what they build or install from elsewhere, so that another checkout does not do
 * it again.
 * @module
 */
import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * Returns a folder in the user's cache (XDG Base Directory: `$XDG_CACHE_HOME`, else `~/.cache`),
 * which need not exist yet.
 * @param name includes the version of what is kept there, unless the files in it do
 */
export function cacheFolder(name: string): string {
  const { XDG_CACHE_HOME: base = '' } = process.env
  return join(base === '' ? join(homedir(), '.cache') : base, 'kubedoh', name)
}
