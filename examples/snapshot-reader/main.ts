import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatRecord, nameOf } from 'kubedoh/dns'
import { openShard, parseManifest, shardRecords } from 'kubedoh/snapshot'

const [folder = '.'] = process.argv.slice(2)
const manifest = parseManifest(readFileSync(join(folder, 'manifest.json')))
const [origin = '.'] = manifest.origins
console.log(`; cluster ${manifest.cluster}: ${manifest.records} records`)
for (const { sha256 } of manifest.shards) {
  const shard = openShard(readFileSync(join(folder, 'shards', sha256)))
  for (const record of shardRecords(shard, nameOf(origin))) console.log(formatRecord(record))
}
