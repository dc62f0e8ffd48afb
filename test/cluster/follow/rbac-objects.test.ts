import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { RbacObjects } from '../../../src/cluster/follow/rbac-objects.ts'
import type { RbacKind } from '../../../src/cluster/objects/parse-rbac.ts'

const READS = [{ apiGroups: [''], resources: ['services'], verbs: ['get'] }]

type Item = { readonly metadata: { readonly name: string; readonly namespace?: string } }

function role(name: string, rules: readonly unknown[] = READS, namespace = 'shop'): Item {
  return { metadata: { name, namespace }, ...{ rules } }
}

function binding(name: string, roleName: string, subjects: string, namespace = 'shop'): Item {
  const named = subjects.split(' ').map((subject) => ({ kind: 'User', name: subject }))
  const roleRef = { kind: 'Role', name: roleName }
  return { metadata: { name, namespace }, ...{ roleRef, subjects: named } }
}

/** Objects, and the warnings about them. */
class Objects {
  readonly warnings: string[] = []
  readonly objects: RbacObjects
  readonly intakes: Readonly<Record<RbacKind, ReturnType<RbacObjects['intake']>>>

  constructor(bounds?: ConstructorParameters<typeof RbacObjects>[1]) {
    this.objects = new RbacObjects((message) => this.warnings.push(message), bounds)
    const intake = (kind: RbacKind) => this.objects.intake(kind)
    this.intakes = {
      Role: intake('Role'),
      ClusterRole: intake('ClusterRole'),
      RoleBinding: intake('RoleBinding'),
      ClusterRoleBinding: intake('ClusterRoleBinding'),
    }
  }

  take(kind: RbacKind, ...items: readonly Item[]): this {
    for (const item of items) void this.intakes[kind].take(item)
    return this
  }

  /** Who is bound to a role that allows it, and whether that was news. */
  read(): string {
    const { isChanged } = this.objects
    this.objects.isChanged = false
    const bound = this.objects
      .effectiveBindings()
      .map(({ namespace, subjects }) => `${namespace}: ${subjects.join(' ')}`)
    return `${isChanged ? 'new' : 'same'} ${bound.join(', ')}`
  }
}

describe('objects of RBAC', () => {
  test('count while both binding and role exist, in whatever order they come', () => {
    const all = new Objects()
    all.take('RoleBinding', binding('readers', 'view', 'ana bob'))
    assert.equal(all.read(), 'new ')
    all.take('Role', role('view'))
    assert.equal(all.read(), 'new shop: u:ana u:bob')
    all.take('Role', role('view', []))
    assert.equal(all.read(), 'new ')
    all.take('Role', role('view'))
    all.intakes.Role.drop(role('view'))
    assert.equal(all.read(), 'new ')
  })

  test('of another namespace, or of the cluster, are no substitute', () => {
    const all = new Objects()
    all.take('RoleBinding', binding('readers', 'view', 'ana'))
    all.take('Role', role('view', READS, 'data'))
    all.take('ClusterRole', role('view', READS, ''))
    assert.equal(all.read(), 'new ')
  })

  test('are news only if they say something else', () => {
    const all = new Objects()
    all.take('Role', role('view'), role('edit', [])).read()
    all.take('Role', role('view'), role('edit', []))
    assert.equal(all.read(), 'same ')
    all.take('RoleBinding', binding('readers', 'view', 'ana')).read()
    all.take('RoleBinding', binding('readers', 'view', 'ana'))
    assert.equal(all.read(), 'same shop: u:ana')
    all.take('RoleBinding', binding('readers', 'view', 'bob'))
    assert.equal(all.read(), 'new shop: u:bob')
  })

  test('that a list lacks are forgotten at its end', () => {
    const all = new Objects().take('Role', role('view'))
    all.take('RoleBinding', binding('one', 'view', 'ana'), binding('two', 'view', 'bob')).read()
    const { RoleBinding } = all.intakes
    RoleBinding.startList('7')
    void RoleBinding.take(binding('two', 'view', 'bob'))
    assert.equal(all.read(), 'same shop: u:ana, shop: u:bob')
    RoleBinding.endList()
    assert.equal(all.read(), 'new shop: u:bob')
  })

  test('of a namespace with too many are left out, not those of others', () => {
    const all = new Objects({ namespaceMax: 1000, wholeMax: 10_000 })
    all.take('Role', role('view'), role('view', READS, 'data'))
    const many = Array.from({ length: 50 }, (_, i) => binding(`b${i}`, 'view', `user${i}`))
    all.take('RoleBinding', ...many, binding('readers', 'view', 'ana', 'data'))
    assert.equal(all.objects.count('RoleBinding'), 7)
    assert.match(all.read(), /^new shop: u:user0, .*, data: u:ana$/)
    const warning =
      'roles and bindings of namespace shop are more than are read: some count for nobody'
    assert.deepEqual(all.warnings, [warning])
  })

  test('whose newer version does not fit do not count by the older one', () => {
    const all = new Objects({ namespaceMax: 1000, wholeMax: 10_000 }).take('Role', role('view'))
    all.take('RoleBinding', binding('readers', 'view', 'ana')).read()
    all.take('RoleBinding', binding('readers', 'view', Array(20).fill('bob').join(' ')))
    assert.equal(all.read(), 'new ')
  })

  test('that are gone leave room', () => {
    const all = new Objects({ namespaceMax: 300, wholeMax: 300 }).take('Role', role('view'))
    const [one, two] = [binding('one', 'view', 'ana'), binding('two', 'view', 'bob')]
    for (let i = 0; i < 100; i++) {
      all.take('RoleBinding', one)
      all.intakes.RoleBinding.drop(one)
      all.take('RoleBinding', two)
      all.intakes.RoleBinding.drop(two)
    }
    assert.equal(all.take('RoleBinding', one).read(), 'new shop: u:ana')
    assert.deepEqual(all.warnings, [])
  })

  const item = fc.oneof(fc.anything(), fc.record({ metadata: fc.anything(), rules: fc.anything() }))

  test('may be anything', () => {
    fc.assert(
      fc.property(fc.constantFrom('Role', 'ClusterRoleBinding'), item, (kind, any) => {
        const { objects } = new Objects()
        void objects.intake(kind).take(any)
        assert.deepEqual(objects.effectiveBindings(), [])
      }),
    )
  })
})
