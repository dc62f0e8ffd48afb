/**
 * The promises of every directory of clusters, whatever keeps the entries. Each promise gets a new,
 * empty directory. They need only Web APIs, so that they can run where a directory runs.
 * @module
 */
import type {
  ClusterDirectory,
  DirectoryEntry,
} from '../../src/gateway/access/cluster-directory.ts'

/** A promise; `hold` rejects when it is broken. */
export type DirectoryPromise = {
  readonly name: string
  readonly hold: (directory: ClusterDirectory) => Promise<void>
}

/** An entry with keys that stand for real ones. */
export function directoryEntry(id: string, ...publicKeys: readonly string[]): DirectoryEntry {
  const keys = (publicKeys.length === 0 ? ['one'] : publicKeys).map((publicKey) => ({
    publicKey,
    tokenSha256: 'a'.repeat(64),
    createdMs: 7,
  }))
  return { id, createdMs: 7, keys }
}

/** The promises. */
export const DIRECTORY_PROMISES: readonly DirectoryPromise[] = [
  {
    name: 'has nothing at first',
    hold: async (directory) => {
      same(await directory.list(), [])
      same(await directory.remove('a'), false)
      same(await directory.replace(directoryEntry('a'), directoryEntry('a', 'two')), false)
    },
  },
  {
    name: 'gives entries back whole, and adds none in place of another one',
    hold: async (directory) => {
      same(await directory.add(directoryEntry('a', 'one', 'two')), 'added')
      same(await directory.add(directoryEntry('b')), 'added')
      same(await directory.add(directoryEntry('a')), 'exists')
      const sorted = [...(await directory.list())].sort((a, b) => (a.id < b.id ? -1 : 1))
      same(sorted, [directoryEntry('a', 'one', 'two'), directoryEntry('b')])
    },
  },
  {
    name: 'adds all entries of another directory once, and none where one differs',
    hold: async (directory) => {
      await directory.add(directoryEntry('a', 'one'))
      const wanted = [directoryEntry('a', 'one'), directoryEntry('b')]
      same(await directory.addAll(wanted), { added: ['b'], same: 1, refused: [] })
      same(await directory.addAll(wanted), { added: [], same: 2, refused: [] })
      const other = [directoryEntry('c'), directoryEntry('a', 'two')]
      const refused = [{ id: 'a', reason: 'differs' }]
      same(await directory.addAll(other), { added: [], same: 0, refused })
      same((await directory.list()).map(({ id }) => id).sort(), ['a', 'b'])
    },
  },
  {
    name: 'keeps the issuers of an entry, to the letter, and without them none',
    hold: async (directory) => {
      const issuers = JSON.stringify([{ issuer: 'https://sso.test', when: { é: '"\\\n' } }])
      const entry = { ...directoryEntry('a'), issuers }
      await directory.add(entry)
      const [read = directoryEntry('')] = await directory.list()
      same(read, entry)
      same(await directory.replace(read, directoryEntry('a')), true)
      same(await directory.list(), [directoryEntry('a')])
    },
  },
  {
    name: 'replaces an entry only when it is still the one that was read',
    hold: async (directory) => {
      await directory.add(directoryEntry('a'))
      const [read = directoryEntry('')] = await directory.list()
      same(await directory.replace(read, directoryEntry('a', 'two', 'one')), true)
      same(await directory.replace(read, directoryEntry('a', 'three')), false)
      same(await directory.list(), [directoryEntry('a', 'two', 'one')])
    },
  },
  {
    name: 'removes an entry once, and takes one of the same name again',
    hold: async (directory) => {
      await directory.add(directoryEntry('a'))
      same([await directory.remove('a'), await directory.remove('a')], [true, false])
      same(await directory.add(directoryEntry('a', 'two')), 'added')
      same(await directory.list(), [directoryEntry('a', 'two')])
    },
  },
]

function same(actual: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (a !== b) throw new Error(`${a} is not ${b}`)
}
