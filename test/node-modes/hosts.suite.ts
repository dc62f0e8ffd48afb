/**
 * `npm run test:modes`: the hosts file with another owner, with extended attributes and as a bind
 * mount. Needs root.
 * @module
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chownSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { readText, replaceFile } from '../../src/operators/node-local/replace-file.ts'
import { findMissing } from '../clients/programs.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'
import { describeUnless } from '../describe-unless.ts'

const missing =
  process.getuid?.() === 0
    ? ['unshare', 'setfattr'].map(findMissing).find((one) => one !== undefined)
    : 'needs root for owners and mounts'
const MODULE = join(import.meta.dirname, '../../src/operators/node-local/replace-file.ts')

describeUnless(missing, 'replaceFile', () => {
  test('keeps owner and extended attributes', async (t) => {
    const path = join(temporaryFolder(t, { hosts: 'old\n' }), 'hosts')
    chownSync(path, 1234, 5678)
    execFileSync('setfattr', ['-n', 'user.kubedoh', '-v', 'label', path])
    assert.equal(await replaceFile(path, () => 'new\n'), 'replaced')
    const { uid, gid } = statSync(path)
    assert.deepEqual([uid, gid, readText(path)], [1234, 5678, 'new\n'])
    const shown = execFileSync('getfattr', ['--absolute-names', '-n', 'user.kubedoh', path])
    assert.match(shown.toString(), /user\.kubedoh="label"/)
  })

  test('writes in place what is mounted as a single file', (t) => {
    const folder = temporaryFolder(t, { hosts: 'old old\n', target: '' })
    const [hosts, target] = [join(folder, 'hosts'), join(folder, 'target')]
    const program = `import { replaceFile } from '${MODULE}'
console.log(await replaceFile('${target}', () => 'new\\n'))`
    const script = `mount --bind ${hosts} ${target}
"${process.execPath}" --input-type=module -e "$0"`
    const printed = execFileSync('unshare', ['-m', 'sh', '-ec', script, program]).toString()
    assert.equal(printed, 'in place\n')
    assert.equal(readText(hosts), 'new\n')
  })
})
