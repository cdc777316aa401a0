/** Helpers of the generated functions, with the same failures as on the server. */
export const prelude = `type Result<T, E = string> = { _tag: "Ok"; value: T } | { _tag: "Error"; value: E };

const ok = <T>(value: T) => ({ _tag: "Ok", value }) as const;
const error = <E>(value: E) => ({ _tag: "Error", value }) as const;

function fail(message: string): never {
  throw new Error(message);
}

function int(value: number): number {
  return Number.isSafeInteger(value) ? value + 0 : fail("the result is outside the range of int");
}

function divide(a: number, b: number): number {
  return b === 0 ? fail("division by zero") : int((a - (a % b)) / b);
}

function quotient(a: number, b: number): number {
  return b === 0 ? fail("division by zero") : a / b;
}

function remainder(a: number, b: number): number {
  return b === 0 ? fail("division by zero") : (a % b) + 0;
}

function show(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined) return "Unit";
  return value === null ? "None" : JSON.stringify(value);
}

function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  const at = (value: object, key: string) => (value as Record<string, unknown>)[key] ?? null;
  return Array.isArray(a) === Array.isArray(b) && [...keys].every((key) => equal(at(a, key), at(b, key)));
}

function element<T>(items: readonly T[], index: number): T {
  const at = index < 0 ? index + items.length : index;
  return at < 0 || at >= items.length ? fail(\`index \${index} is out of range for length \${items.length}\`) : (items[at] as T);
}

function $total(items: readonly number[]): number {
  return items.reduce((sum, item) => sum + item, 0);
}

function $sum(items: readonly number[]): number {
  return items.reduce((sum, item) => int(sum + item), 0);
}

function $avg(items: readonly number[]): number | null {
  return items.length === 0 ? null : $total(items) / items.length;
}

function $order(a: unknown, b: unknown): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  if (typeof a === "string") return $orderTexts([...a], [...(b as string)]);
  if (!Array.isArray(a)) return Number(a) - Number(b);
  return a.reduce((found: number, item, i) => found || $order(item, (b as unknown[])[i]), 0);
}

function $orderTexts(a: string[], b: string[]): number {
  const at = a.findIndex((character, i) => character !== b[i]);
  if (at < 0) return a.length - b.length;
  return (a[at]?.codePointAt(0) ?? 0) - (b[at]?.codePointAt(0) ?? -1);
}

function $least<T>(items: readonly T[], sign: 1 | -1): T | null {
  return items.reduce<T | null>((best, item, i) => (i === 0 || sign * $order(item, best) < 0 ? item : best), null);
}

function $sorted<T>(items: readonly T[], key: (item: T) => unknown): T[] {
  const keyed = items.map((item) => [key(item), item] as const);
  return keyed.sort(([a], [b]) => $order(a, b)).map(([, item]) => item);
}

function $distinct<T>(items: readonly T[]): T[] {
  return items.filter((item, i) => items.findIndex((other) => equal(item, other)) === i);
}

function $mapped<A, B>(value: A | null, call: (value: A) => B): B | null {
  return value === null ? null : call(value);
}

function $or<A>(value: A | null, other: A): A {
  return value ?? other;
}

function $orElse<A>(value: A | null, call: () => A | null): A | null {
  return value ?? call();
}

function $given<A>(value: A | null): A | undefined {
  return value ?? undefined;
}

function $zip<A, B>(a: readonly A[], b: readonly B[]): [A, B][] {
  return a.slice(0, b.length).map((item, i) => [item, b[i] as B]);
}

function unwrap<T>(value: T | null): T {
  return value === null ? fail("unwrap() of None") : value;
}

function number(value: unknown, whole: boolean): number {
  const found = typeof value === "string" && value.trim() === "" ? Number.NaN : Number(value);
  const rounded = whole && typeof value !== "string" ? Math.trunc(found) : found;
  const fine = whole ? Number.isSafeInteger(rounded) : Number.isFinite(rounded);
  return fine ? rounded : fail(\`\${show(value)} is not \${whole ? "an int" : "a float"}\`);
}

/** Transcription is available only on the server. */
function transcribe(_path: string): Result<string> {
  throw new Error(
    "Speech.transcribe runs on the server: call an endpoint that uses it, as client.ts does. svc db serve has no POST /api/audio/transcribe.",
  );
}
`

export const preludeNames =
  'ok error fail int divide quotient remainder show equal element unwrap number transcribe runtime Result'.split(' ')
