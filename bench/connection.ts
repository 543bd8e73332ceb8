import { connect, type Socket } from "node:net";

const headEnd = Buffer.from("\r\n\r\n");
const lengthName = Buffer.from("content-length: ");
const readBufferBytes = 64 * 1024;
const statusAt = "HTTP/1.1 ".length;
const zero = 0x30;

export interface Answer {
  readonly status: number;
  /** Valid only until the next request is sent. */
  readonly head: Buffer;
  readonly body: Buffer;
}

/**
 * One keep-alive HTTP/1.1 connection, one request at a time, for servers that answer with Content-Length in lower case.
 * Minimal on purpose: the load generator must cost less than the server that it measures.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #onAnswer: (answer: Answer) => void;
  #pending: Buffer | undefined;

  private constructor(socket: Socket, onAnswer: (answer: Answer) => void) {
    this.#socket = socket;
    this.#onAnswer = onAnswer;
  }

  static open(port: number, onAnswer: (answer: Answer) => void, onFailure: (error: Error) => void) {
    return new Promise<Connection>((resolve, reject) => {
      const buffer = Buffer.allocUnsafeSlow(readBufferBytes);
      const callback = (bytes: number) => {
        connection.#received(buffer.subarray(0, bytes));
        return true;
      };
      const socket = connect({ host: "127.0.0.1", port, noDelay: true, onread: { buffer, callback } });
      const connection = new Connection(socket, onAnswer);
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        socket.on("error", onFailure);
        socket.on("end", () => onFailure(new Error("The server closed a connection.")));
        resolve(connection);
      });
    });
  }

  send(request: Buffer): void {
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.removeAllListeners("end");
    this.#socket.destroy();
  }

  #received(chunk: Buffer): void {
    const bytes = this.#pending === undefined ? chunk : Buffer.concat([this.#pending, chunk]);
    const answer = readAnswer(bytes);
    // The read buffer is reused, so an incomplete answer is copied.
    this.#pending = answer === undefined ? Buffer.from(bytes) : undefined;
    if (answer !== undefined) this.#onAnswer(answer);
  }
}

/** @returns undefined while bytes are missing. */
function readAnswer(bytes: Buffer): Answer | undefined {
  const end = bytes.indexOf(headEnd);
  if (end < 0) return undefined;
  const lengthAt = bytes.indexOf(lengthName);
  if (lengthAt < 0 || lengthAt > end) throw new Error("An answer came without Content-Length.");
  const bodyAt = end + headEnd.length;
  const bodyBytes = readDigits(bytes, lengthAt + lengthName.length);
  if (bytes.length < bodyAt + bodyBytes) return undefined;
  const body = bytes.subarray(bodyAt, bodyAt + bodyBytes);
  return { status: readDigits(bytes, statusAt), head: bytes.subarray(0, end), body };
}

function readDigits(bytes: Buffer, from: number): number {
  let value = 0;
  for (let at = from; ; at += 1) {
    const digit = (bytes[at] ?? 0) - zero;
    if (digit < 0 || digit > 9) return value;
    value = value * 10 + digit;
  }
}
