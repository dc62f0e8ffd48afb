/**
 * Writes tar archives (POSIX.1-2001 pax) whose bytes depend on nothing but their entries: every
 * file belongs to root and has the time 0.
 * @module
 */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** A file, folder or symbolic link of an archive. */
export type TarEntry = {
  /** Without a slash at the start or end. */
  readonly path: string
  /** Permission bits. */
  readonly mode: number
  /** The content of a file; absent for a folder and a link. */
  readonly content?: Uint8Array
  /** The target of a symbolic link. */
  readonly link?: string
  /** Value of the extended attribute `security.capability`: see {@link NET_BIND_SERVICE}. */
  readonly capability?: Uint8Array
}

/**
 * `cap_net_bind_service=ep` as the kernel stores it (`struct vfs_cap_data`, revision 2): permitted
 * bit 10, and the flag that makes it effective.
 */
export const NET_BIND_SERVICE: Uint8Array = new Uint8Array(20)
NET_BIND_SERVICE.set([0x01, 0x00, 0x00, 0x02, 0x00, 0x04])

const BLOCK = 512
/**
 * Bytes of a path or a link's target that fit into a header; a longer one goes into a pax
 * record.
 */
const PATH_MAX = 100

/** Returns a tar archive of the entries, sorted by path. */
export function tarOf(entries: readonly TarEntry[]): Buffer {
  const sorted = entries.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  return Buffer.concat([...sorted.flatMap(entryBlocks), Buffer.alloc(2 * BLOCK)])
}

/** Returns all that is in a folder as entries, with paths below `prefix`. */
export function entriesOf(folder: string, prefix = ''): TarEntry[] {
  return readdirSync(folder).flatMap((name): TarEntry[] => {
    const from = join(folder, name)
    const path = prefix === '' ? name : `${prefix}/${name}`
    const stat = lstatSync(from)
    if (stat.isSymbolicLink()) return [{ path, mode: 0o777, link: readlinkSync(from) }]
    const mode = stat.mode & 0o777
    if (stat.isDirectory()) return [{ path, mode: 0o755 }, ...entriesOf(from, path)]
    return [{ path, mode, content: readFileSync(from) }]
  })
}

function entryBlocks(entry: TarEntry): Uint8Array[] {
  const { path, link = '', capability, content = new Uint8Array(0) } = entry
  const isFolder = entry.content === undefined && entry.link === undefined
  const name = isFolder ? `${path}/` : path
  const records = [
    ...(Buffer.byteLength(name) > PATH_MAX ? [paxRecord('path', name)] : []),
    ...(Buffer.byteLength(link) > PATH_MAX ? [paxRecord('linkpath', link)] : []),
    ...(capability ? [paxRecord('SCHILY.xattr.security.capability', capability)] : []),
  ]
  const pax = Buffer.concat(records)
  const type = isFolder ? '5' : entry.link === undefined ? '0' : '2'
  const blocks = [
    header({ name, mode: entry.mode, size: content.length, type, link }),
    ...padded(content),
  ]
  if (pax.length === 0) return blocks
  const paxHeader = header({ name: 'pax', mode: 0o644, size: pax.length, type: 'x', link: '' })
  return [paxHeader, ...padded(pax), ...blocks]
}

/**
 * Returns `LENGTH KEY=VALUE\n`, where LENGTH counts the bytes of the record with its own
 * digits.
 */
function paxRecord(key: string, value: string | Uint8Array): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), Buffer.from(value), Buffer.from('\n')])
  let length = rest.length + 1
  while (length !== rest.length + String(length).length) length++
  return Buffer.concat([Buffer.from(String(length)), rest])
}

type Header = {
  readonly name: string
  readonly mode: number
  readonly size: number
  readonly type: string
  readonly link: string
}

function header({ name, mode, size, type, link }: Header): Buffer {
  const block = Buffer.alloc(BLOCK)
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`
  block.write(name, 0, PATH_MAX)
  block.write(octal(mode, 7), 100)
  block.write(octal(0, 7) + octal(0, 7), 108)
  block.write(octal(size, 11) + octal(0, 11), 124)
  block.write(`        ${type}`, 148)
  block.write(link, 157, PATH_MAX)
  block.write('ustar\x0000', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${octal(sum, 6)} `, 148)
  return block
}

function padded(content: Uint8Array): Uint8Array[] {
  return [content, new Uint8Array(-content.length & (BLOCK - 1))]
}
