/** What a program may send for a decision of a person although it is neither yes nor no. */
export const unclear: readonly unknown[] = [
  null,
  'true',
  'false',
  'yes',
  'no',
  '',
  0,
  1,
  [],
  [true],
  {},
  {approved: 'false'},
]
