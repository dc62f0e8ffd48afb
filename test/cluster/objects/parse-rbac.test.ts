import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parse } from 'yaml'
import { allowsServices, parseBinding } from '../../../src/cluster/objects/parse-rbac.ts'

describe('a role allows `get` on Services', () => {
  const cases: { name: string; rules: string; is: boolean }[] = [
    {
      name: 'by their names',
      rules: '[{ apiGroups: [""], resources: [services], verbs: [get] }]',
      is: true,
    },
    {
      name: 'among others',
      rules: '[{ apiGroups: [apps, ""], resources: [pods, services], verbs: [list, get] }]',
      is: true,
    },
    {
      name: 'by wildcards',
      rules: '[{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }]',
      is: true,
    },
    {
      name: 'in a later rule',
      rules: `[{ apiGroups: [""], resources: [pods], verbs: [get] },
               { apiGroups: [""], resources: ["*"], verbs: [get] }]`,
      is: true,
    },
    {
      name: 'not by two rules with a half each',
      rules: `[{ apiGroups: [""], resources: [services], verbs: [list] },
               { apiGroups: [""], resources: [pods], verbs: [get] }]`,
      is: false,
    },
    {
      name: 'not by other verbs',
      rules: '[{ apiGroups: [""], resources: [services], verbs: [list, watch, GET, "g*"] }]',
      is: false,
    },
    {
      name: 'not in another group',
      rules: '[{ apiGroups: [serving.knative.dev], resources: [services], verbs: [get] }]',
      is: false,
    },
    {
      name: 'not by subresources',
      rules: '[{ apiGroups: [""], resources: [services/status, "*/status"], verbs: [get] }]',
      is: false,
    },
    {
      name: 'not by names of Services',
      rules: '[{ apiGroups: [""], resources: [services], resourceNames: [web], verbs: [get] }]',
      is: false,
    },
    {
      name: 'by the name of a request without one',
      rules: '[{ apiGroups: [""], resources: [services], resourceNames: ["", web], verbs: [get] }]',
      is: true,
    },
    {
      name: 'not by paths',
      rules: '[{ nonResourceURLs: ["*"], verbs: ["*"] }]',
      is: false,
    },
    { name: 'not without rules', rules: '', is: false },
    {
      name: 'not by lists that are none',
      rules: '[{ apiGroups: "*", resources: { "*": 1 }, verbs: "get" }, 7, null]',
      is: false,
    },
  ]
  for (const { name, rules, is } of cases) {
    test(name, () => assert.equal(allowsServices({ rules: parse(rules) }), is))
  }
})

describe('a binding', () => {
  const cases: { name: string; yaml: string; role?: string; subjects?: string[] }[] = [
    {
      name: 'gives users, groups and ServiceAccounts a ClusterRole',
      yaml: `
        metadata: { name: readers, namespace: shop }
        roleRef: { kind: ClusterRole, name: view }
        subjects:
          - { kind: User, name: "oidc:ana@example.org" }
          - { kind: Group, name: "system:authenticated" }
          - { kind: ServiceAccount, name: builder, namespace: ci }
          - { kind: ServiceAccount, name: builder }
      `,
      role: '/view',
      subjects: [
        'u:oidc:ana@example.org',
        'g:system:authenticated',
        'u:system:serviceaccount:ci:builder',
        'u:system:serviceaccount:shop:builder',
      ],
    },
    {
      name: 'finds a Role in its own namespace',
      yaml: `
        metadata: { name: readers, namespace: shop }
        roleRef: { kind: Role, name: view, namespace: other }
        subjects: [{ kind: User, name: ana }]
      `,
      role: 'shop/view',
      subjects: ['u:ana'],
    },
    {
      name: 'leaves out clients without an identity, and subjects that are none',
      yaml: `
        metadata: { name: readers, namespace: shop }
        roleRef: { kind: ClusterRole, name: view }
        subjects:
          - { kind: Group, name: "system:unauthenticated" }
          - { kind: Robot, name: ana }
          - { kind: User }
          - { kind: User, name: "" }
          - { kind: User, name: [ana] }
          - null
          - { kind: User, name: bob }
      `,
      role: '/view',
      subjects: ['u:bob'],
    },
    {
      name: 'without subjects gives nothing',
      yaml: `
        metadata: { name: readers, namespace: shop }
        roleRef: { kind: ClusterRole, name: view }
      `,
    },
    {
      name: 'to something else gives nothing',
      yaml: `
        metadata: { name: readers, namespace: shop }
        roleRef: { kind: Cluster, name: view }
        subjects: [{ kind: User, name: ana }]
      `,
    },
    {
      name: 'without a namespace gives nothing',
      yaml: `
        metadata: { name: readers }
        roleRef: { kind: ClusterRole, name: view }
        subjects: [{ kind: User, name: ana }]
      `,
    },
  ]
  for (const { name, yaml, role, subjects } of cases) {
    test(name, () => {
      const found = parseBinding('RoleBinding', parse(yaml))
      assert.deepEqual(found, role && subjects && { namespace: 'shop', role, subjects })
    })
  }

  test('of the cluster finds no Role, and no ServiceAccount without a namespace', () => {
    const read = (kind: string) =>
      parseBinding('ClusterRoleBinding', {
        metadata: { name: 'readers', namespace: 'ignored' },
        roleRef: { kind, name: 'view' },
        subjects: [
          { kind: 'ServiceAccount', name: 'builder' },
          { kind: 'User', name: 'ana' },
        ],
      })
    assert.equal(read('Role'), undefined)
    const found = { namespace: '', role: '/view', subjects: ['u:ana'] }
    assert.deepEqual(read('ClusterRole'), found)
  })
})
