/** The tests that run inside workerd, all in one. `npx vitest run sql-store` runs one of them. */
import './audit-object.test.ts'
import './blob-stores.test.ts'
import './followers.test.ts'
import './removed-cluster.test.ts'
import './sql-rows.test.ts'
import './sql-store.test.ts'
import './token-object.test.ts'
