/** Repeats the tests of processes that share files, with thirty deaths instead of three. */
process.env.SVC_TEST_KILL_ROUNDS = '30'
await import('./db-neighbours.test.js')
await import('./file-neighbours.test.js')
await import('./model-neighbours.test.js')
