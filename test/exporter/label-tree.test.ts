import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ClusterBuilder } from '../../src/exporter/cluster-builder.ts'
import { buildLabels, LabelTree } from '../../src/exporter/label-tree.ts'
import { buildSnapshot } from '../../src/exporter/snapshot-builder.ts'
import type { Namespace } from '../../src/kubernetes/objects/objects.ts'
import type { NamingOptions } from '../../src/kubernetes/objects/options.ts'
import { readLabels } from '../../src/snapshot/read/namespace-labels.ts'
import { openShard } from '../../src/snapshot/read/open-shard.ts'
import { clusterOf, optionsOf, selectorOf } from '../kubernetes/naming.ts'

function namespace(name: string, labels: Readonly<Record<string, string>>): Namespace {
  return { kind: 'Namespace', namespace: '', name, labels: new Map(Object.entries(labels)) }
}

/** What a tree says of each namespace. */
function labelsOf({ tree }: ReturnType<LabelTree['build']>): Record<string, readonly string[]> {
  const shards = (tree?.shards ?? []).map((bytes) => openShard(bytes))
  return Object.fromEntries(readLabels(shards))
}

describe('LabelTree', () => {
  test('has the present namespaces', () => {
    const tree = new LabelTree(optionsOf())
    assert.deepEqual(tree.build(), { tree: undefined, warnings: [] })
    tree.set(namespace('shop', { team: 'shop' }))
    tree.set(namespace('blog', { team: 'web', a: 'b' }))
    assert.equal(tree.build().tree?.records, 3)
    assert.deepEqual(labelsOf(tree.build()), { blog: ['a=b', 'team=web'], shop: ['team=shop'] })
    tree.set(namespace('shop', {}))
    assert.deepEqual(labelsOf(tree.build()), { blog: ['a=b', 'team=web'] })
    tree.delete('blog')
    assert.equal(tree.build().tree, undefined)
  })

  test('is the same array as long as nothing changes', () => {
    const tree = new LabelTree(optionsOf())
    tree.set(namespace('shop', { team: 'shop' }))
    const before = tree.build()
    tree.delete('blog')
    assert.equal(tree.build(), before)
  })

  test('has only namespaces that are served', () => {
    const options: NamingOptions = optionsOf({ namespaces: new Set(['shop']) })
    const all = [namespace('shop', { a: 'b' }), namespace('blog', { a: 'b' })]
    assert.deepEqual(labelsOf(buildLabels(all, options)), { shop: ['a=b'] })
  })
})

describe('a cluster that is followed', () => {
  const options = optionsOf({ namespaceSelector: selectorOf('!hidden') })

  test('has the labels of its namespaces as they are, and those of no others', () => {
    const builder = new ClusterBuilder(options, assert.fail)
    const built = (): Record<string, readonly string[]> =>
      labelsOf({ tree: builder.build().trees?.labels, warnings: [] })
    builder.set(namespace('shop', { team: 'shop' }))
    assert.deepEqual(built(), { shop: ['team=shop'] })
    builder.set(namespace('shop', { team: 'web' }))
    assert.deepEqual(built(), { shop: ['team=web'] })
    builder.set(namespace('shop', { team: 'web', hidden: '' }))
    assert.deepEqual(built(), {})
    builder.set(namespace('shop', { team: 'web' }))
    builder.delete('Namespace', '', 'shop')
    assert.deepEqual(built(), {})
  })

  test('has the same as one that is built as a whole', () => {
    const builder = new ClusterBuilder(options, assert.fail)
    const yaml = '[{kind: Namespace, metadata: {name: shop, labels: {team: shop}}}]'
    const cluster = clusterOf(yaml)
    for (const one of cluster.namespaces.values()) builder.set(one)
    assert.deepEqual(buildSnapshot(cluster, options).trees, builder.build().trees)
  })
})
