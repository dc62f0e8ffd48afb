import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { readSnapshotFolder, writeSnapshotFolder } from '../../src/cli/snapshot-folder.ts'
import { MANIFEST_VERSION, type Manifest } from '../../src/snapshot/format/manifest.ts'
import { sha256Hex } from '../../src/snapshot/format/signature.ts'
import { temporaryFolder } from '../exporter/temporary-folder.ts'
import { buildSnapshot } from '../exporter/whole-snapshot.ts'
import { clusterOf, optionsOf } from '../kubernetes/naming.ts'

type Written = { readonly folder: string; readonly manifest: Manifest; readonly sha256: string }

/** Writes a snapshot of one Service. */
async function writeOne(
  t: TestContext,
  name = 'web',
  folder = temporaryFolder(t),
): Promise<Written> {
  const service = `{ kind: Service, metadata: { name: ${name} }, spec: { clusterIP: 192.0.2.1 } }`
  const { shards, records, ttlSeconds, origins } = buildSnapshot(
    clusterOf(`[${service}]`),
    optionsOf(),
  )
  const [bytes = new Uint8Array()] = shards
  const sha256 = await sha256Hex(bytes)
  const manifest: Manifest = {
    version: MANIFEST_VERSION,
    cluster: 'shop',
    generation: 7,
    time: '2026-01-01T00:00:00.000Z',
    origins,
    ttlSeconds,
    records,
    sources: {},
    shards: [{ sha256, bytes: bytes.length }],
  }
  writeSnapshotFolder(join(folder, 'snapshot'), manifest, new Map([[sha256, bytes]]))
  return { folder: join(folder, 'snapshot'), manifest, sha256 }
}

describe('a snapshot in a folder', () => {
  test('reads what it wrote', async (t) => {
    const { folder, manifest, sha256 } = await writeOne(t)
    const read = await readSnapshotFolder(folder)
    assert.deepEqual(read.manifest, manifest)
    assert.deepEqual(await Promise.all(read.shards.map(({ bytes }) => sha256Hex(bytes))), [sha256])
    assert.deepEqual(readdirSync(folder).sort(), ['manifest.json', 'shards'])
    assert.deepEqual(readdirSync(join(folder, 'shards')), [sha256])
  })

  test('is replaced by a newer one', async (t) => {
    const first = await writeOne(t)
    const second = await writeOne(t, 'db', join(first.folder, '..'))
    assert.notEqual(first.sha256, second.sha256)
    assert.deepEqual((await readSnapshotFolder(first.folder)).manifest, second.manifest)
  })

  const damages: {
    name: string
    damage: (written: Written) => void
    error: { name: string; message: RegExp }
  }[] = [
    {
      name: 'without a manifest',
      damage: ({ folder }) => rmSync(join(folder, 'manifest.json')),
      error: { name: 'CommandError', message: /^Cannot read .*\/manifest\.json: no such file$/ },
    },
    {
      name: 'with half a manifest',
      damage: ({ folder }) => {
        const path = join(folder, 'manifest.json')
        writeFileSync(path, readFileSync(path).subarray(0, 100))
      },
      error: { name: 'SnapshotError', message: /^Cannot read manifest: it is not JSON in UTF-8$/ },
    },
    {
      name: 'without a shard',
      damage: ({ folder, sha256 }) => rmSync(join(folder, 'shards', sha256)),
      error: { name: 'CommandError', message: /^Cannot read .*\/[0-9a-f]{64}: no such file$/ },
    },
    {
      name: 'with another byte in a shard',
      damage: ({ folder, sha256 }) => {
        const path = join(folder, 'shards', sha256)
        const bytes = readFileSync(path)
        bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1)
        writeFileSync(path, bytes)
      },
      error: {
        name: 'CommandError',
        message: /\/[0-9a-f]{64}: its SHA-256 differs from its name; copy the snapshot again$/,
      },
    },
  ]
  for (const { name, damage, error } of damages) {
    test(`is refused ${name}`, async (t) => {
      const written = await writeOne(t)
      damage(written)
      await assert.rejects(readSnapshotFolder(written.folder), error)
    })
  }

  test('is rejected with an invalid shard of the right name', async (t) => {
    const { folder, manifest } = await writeOne(t)
    const bytes = new TextEncoder().encode('no shard')
    const sha256 = await sha256Hex(bytes)
    const shards = [{ sha256, bytes: bytes.length }]
    writeSnapshotFolder(folder, { ...manifest, shards }, new Map([[sha256, bytes]]))
    await assert.rejects(readSnapshotFolder(folder), { name: 'SnapshotError' })
  })

  test('reports a folder that cannot be written', async (t) => {
    const folder = temporaryFolder(t, { snapshot: 'a file is in the way' })
    await assert.rejects(writeOne(t, 'web', folder), {
      name: 'CommandError',
      message: /^Cannot write a snapshot to .*\/snapshot: /,
    })
  })

  test('writes the manifest after its shards', async (t) => {
    const folder = temporaryFolder(t)
    const { manifest, sha256 } = await writeOne(t)
    mkdirSync(join(folder, 'shards', sha256), { recursive: true })
    const shards = new Map([[sha256, new Uint8Array(1)]])
    assert.throws(() => writeSnapshotFolder(folder, manifest, shards), { name: 'CommandError' })
    assert.deepEqual(readdirSync(folder), ['shards'])
  })
})
