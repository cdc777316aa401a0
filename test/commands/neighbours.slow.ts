/** Repeats the tests of processes that share files or plans, with thirty deaths instead of two. */
process.env.SVC_TEST_KILL_ROUNDS = '30'
await import('./db-neighbours.test.js')
await import('./file-neighbours.test.js')
await import('./model-neighbours.test.js')
await import('../plans/atomic.test.js')
