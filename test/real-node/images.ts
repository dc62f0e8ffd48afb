/**
 * Images of the test's own pods: the C libraries of Debian and Alpine, each with one program that
 * calls its resolver, and CoreDNS to compare with.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unpackDebian } from '../../build/image/debian.ts'
import { packImage } from '../../build/image/oci.ts'
import { entriesOf, NET_BIND_SERVICE, type TarEntry } from '../../build/image/tar.ts'
import { COREDNS } from '../real-cluster/binaries.ts'

/** Name of CoreDNS's image. */
export const COREDNS_IMAGE: string = `localhost/coredns:${COREDNS}`
const SOURCE = join(import.meta.dirname, 'resolve.c')

/** Builds the images. @returns their archives */
export function buildTestImages(coredns: string, debian: string): Buffer[] {
  const scratch = mkdtempSync(join(tmpdir(), 'kubedoh-images-'))
  try {
    const root = join(scratch, 'root')
    mkdirSync(root)
    unpackDebian({ architecture: 'amd64', variant: '' }, root)
    const glibc = entriesOf(root)
    const compile = (args: readonly string[]): TarEntry => {
      const path = join(scratch, 'resolve')
      execFileSync('gcc', ['-O2', '-s', '-o', path, ...args])
      return { path: 'resolve', mode: 0o755, content: readFileSync(path) }
    }
    const server = { path: 'coredns', mode: 0o755, content: readFileSync(coredns) }
    return [
      pack('localhost/musl:1', 'resolve', [compile(muslArguments(debian))]),
      pack('localhost/glibc:1', 'resolve', [...glibc, compile([SOURCE])]),
      pack(COREDNS_IMAGE, 'coredns', [...glibc, { ...server, capability: NET_BIND_SERVICE }]),
    ]
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

/** What `musl-gcc` passes to gcc; its file of options names folders where nothing is installed. */
function muslArguments(debian: string): string[] {
  const file = (name: string): string => join(debian, 'usr/lib/x86_64-linux-musl', name)
  const headers = join(debian, 'usr/include/x86_64-linux-musl')
  const start = [file('crt1.o'), file('crti.o')]
  const libraries = [file('libc.a'), '-lgcc', file('crtn.o')]
  return ['-static', '-nostdinc', '-isystem', headers, '-nostdlib', ...start, SOURCE, ...libraries]
}

function pack(name: string, program: string, layer: readonly TarEntry[]): Buffer {
  const config = { User: '65532:65532', Entrypoint: [`/${program}`] }
  return packImage([{ architecture: 'amd64', layers: [layer] }], { name, created: 0, config })
    .archive
}
