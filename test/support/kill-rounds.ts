/** Number of times that a test of two processes kills one of them; the campaign repeats the tests with more. */
export const killRounds = Number(process.env.SVC_TEST_KILL_ROUNDS ?? 2)
