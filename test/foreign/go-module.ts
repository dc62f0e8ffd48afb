/**
 * Go modules whose tests the suites read as they are. Nothing of them is copied into this
 * repository.
 * @module
 */
import { execFileSync } from 'node:child_process'

/**
 * Downloads a module, or finds it in Go's cache.
 * @param module path and version, such as `github.com/coredns/coredns@v1.14.7`
 * @returns its folder @throws when there is no Go
 */
export function goModuleFolder(module: string): string {
  const text = execFileSync('go', ['mod', 'download', '-json', module], { encoding: 'utf8' })
  const { Dir: folder }: { readonly Dir?: string } = JSON.parse(text)
  if (folder === undefined) throw new Error(`Cannot download ${module}: ${text}`)
  return folder
}
