/**
 * Replaces a file's content at once: readers see the old content or the new one.
 * @module
 */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { errorCode } from '../../dns/bytes/unknown.ts'
import { writeWholeFile } from '../../server/node/whole-file.ts'

const SELINUX = '/sys/fs/selinux/enforce'
/** A hosts file larger than this is not one. */
const BYTES_MAX = 16 * 1024 * 1024
/** Times to start again because another program changed the file meanwhile. */
const ATTEMPTS_MAX = 5
/**
 * Errors after which the file itself is written to: a container runtime mounts a single file into a
 * pod (EBUSY, EXDEV), in a folder that is often read-only.
 */
const IN_PLACE: ReadonlySet<string> = new Set(['EBUSY', 'EXDEV', 'EROFS', 'EACCES', 'EPERM'])

/** How a file was written: as a new one, into the old one, or not at all. */
export type Replaced = 'replaced' | 'in place' | 'unchanged'

/**
 * Replaces the content of a file by that of a function, byte by byte as Latin-1. Keeps mode, owner,
 * extended attributes and SELinux label; follows a symbolic link. Writes to the file itself where a
 * rename fails, as in a bind mount. Refuses devices and the like, which root could replace.
 * @throws {Error} with a code of the file system; the content is then the old one
 */
export async function replaceFile(
  path: string,
  change: (text: string) => string,
): Promise<Replaced> {
  const target = realpathSync(path)
  for (let attempt = 1; ; attempt++) {
    const before = readText(target)
    const after = change(before)
    if (after === before) return 'unchanged'
    const isUnchanged = (): boolean => attempt === ATTEMPTS_MAX || readText(target) === before
    try {
      if (await renameOver(target, after, isUnchanged)) return 'replaced'
    } catch (error) {
      if (!IN_PLACE.has(errorCode(error))) throw error
      overwrite(target, { before, after })
      return 'in place'
    }
  }
}

/** Reads a regular file, not a device, of at most 16 MiB. @throws {Error} */
export function readText(path: string): string {
  const stat = statSync(path)
  // Reading a folder says that it is one.
  if (!stat.isFile() && !stat.isDirectory()) {
    throw Object.assign(new Error('not a regular file'), { code: 'EINVAL' })
  }
  if (stat.size > BYTES_MAX) throw Object.assign(new Error('file too large'), { code: 'EFBIG' })
  return readFileSync(path, 'latin1')
}

/** Returns false if the file is not the expected one any more. */
async function renameOver(path: string, text: string, isExpected: () => boolean): Promise<boolean> {
  let isReplaced = false
  await writeWholeFile(path, [Buffer.from(text, 'latin1')], {
    prepare: (temporary) => copyAttributes(path, temporary),
    place: async (temporary) => {
      isReplaced = isExpected()
      if (isReplaced) renameSync(temporary, path)
      else rmSync(temporary)
    },
  })
  return isReplaced
}

/** Copies mode, owner, extended attributes and, where there is one, the SELinux label. */
function copyAttributes(from: string, to: string): void {
  const { mode, uid, gid } = statSync(from)
  const label = existsSync(SELINUX) ? ',context' : ''
  try {
    const preserve = `--preserve=mode,ownership,xattr${label}`
    execFileSync('cp', ['--attributes-only', preserve, '--', from, to], { stdio: 'ignore' })
  } catch (error) {
    // Node cannot read labels: without GNU cp, only a write in place keeps one.
    if (label !== '') throw Object.assign(new Error('no GNU cp'), { code: 'EPERM', cause: error })
    chownSync(to, uid, gid)
    chmodSync(to, mode)
  }
}

/** Writes into an existing file; restores the old content if the new one does not fit. */
function overwrite(path: string, { before, after }: { before: string; after: string }): void {
  const file = openSync(path, 'r+')
  try {
    writeAll(file, after)
    ftruncateSync(file, after.length)
  } catch (error) {
    writeAll(file, before)
    ftruncateSync(file, before.length)
    throw error
  } finally {
    fsyncSync(file)
    closeSync(file)
  }
}

function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text, 'latin1')
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, at)
}
