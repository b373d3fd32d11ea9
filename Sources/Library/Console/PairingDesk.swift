import Control
import Digests
import Files
import HTTPTypes
import Library
import NIOPosix
import Takes
import Transport

/// Pairs phones by the code, while the recorder reports that pairing is on, or by the password.
struct PairingDesk: Sendable {
    let phones: PhoneBook
    let recorder: RecorderDesk
    let code: PairingCodeFile
    let password: ConsolePassword
    let news: PhoneNews
    let pool: NIOThreadPool
    let clock: any Clock
    /// Why pairing ended although play was held. Nil if play was not held, or if its time is over.
    private let end = Locked<End?>(nil)

    /// The proof that allows pairing.
    enum Proof {
        case password(String)
        /// Nil if the phone sends no code.
        case code(String?)
    }

    /// Why pairing ended early.
    enum End: String, Codable, Hashable {
        case paired
        case wrongCodes = "wrong-codes"
    }

    /// Short, because a page waits for this answer when it loads.
    static let patience = Duration.seconds(2)

    /// - Parameters:
    ///   - code: proves that a person is at the kit, or has its label.
    ///   - news: receives a report about each phone.
    init(
        _ phones: PhoneBook, _ recorder: RecorderDesk, code: PairingCodeFile, password: ConsolePassword,
        news: PhoneNews,
        pool: NIOThreadPool, clock: any Clock
    ) {
        self.phones = phones
        self.recorder = recorder
        self.code = code
        self.password = password
        self.news = news
        self.pool = pool
        self.clock = clock
    }

    /// Whether phones may be paired now, and otherwise why pairing ended early, if it did.
    func state() async -> (isPairing: Bool, ended: End?) {
        let status = try? await recorder.ask(.status, patience: Self.patience)
        guard status?["pairing"]?.bool == true else { return (false, end.withLock { $0 }) }
        end.withLock { $0 = nil }
        return (true, nil)
    }

    /// Pairs a phone.
    /// - Parameter known: the phone, if it is already paired and is paired again.
    /// - Returns: the phone, and its token.
    /// - Throws: `Problem`.
    func pair(
        _ name: String, _ proof: Proof, by known: PhoneBook.Phone?, at address: BrowserAddress
    ) async throws -> (PhoneBook.Phone, token: String) {
        switch proof {
        case .password(let given):
            try await password.check(given, by: known.map { .phone($0.id) } ?? .address(address), now: clock.now())
        case .code(let given): try await check(given, from: address)
        }
        return try await add(name, from: address)
    }

    /// Adds a phone whose proof was accepted.
    /// - Returns: the phone, and its token.
    /// - Throws: `Problem`.
    func add(_ name: String, from address: BrowserAddress) async throws -> (PhoneBook.Phone, token: String) {
        let paired = try await pool.runIfActive {
            do throws(PhoneBook.Failure) {
                return try phones.add(name: name, now: clock.wallTime())
            } catch {
                throw Self.problem(error)
            }
        }
        await news.report(PhoneEvent(.paired, phone: name), from: address)
        return paired
    }

    private func check(_ given: String?, from address: BrowserAddress) async throws {
        guard try await recorder.ask(.status)["pairing"]?.bool == true else { throw Problem(.pairingClosed) }
        // Checked first, so that a correct code is not used up in vain.
        guard !phones.isFull else { throw Self.problem(.full) }
        guard let given = given.flatMap({ PairingCode($0.filter { $0 != " " }) }) else {
            throw Problem(.noCode)
        }
        // Hashes are compared, so that the response time shows nothing about the code.
        let isRight = Digest.sha256(given.digits) == Digest.sha256(code.code.digits)
        switch PairingWindow.Answer(try await recorder.ask(.pairingCode(isRight: isRight))) {
        case .accepted: end.withLock { $0 = .paired }
        case .wrong(let left):
            news.reportWrongCode(from: address)
            throw Problem(.wrongCode(left: left))
        case .lastWrong:
            end.withLock { $0 = .wrongCodes }
            news.reportWrongCode(from: address)
            throw Problem(.wrongCodes)
        case .closed: throw Problem(.pairingClosed)
        case nil: throw Problem(.oldRecorder)
        }
    }

    private static func problem(_ failure: PhoneBook.Failure) -> Problem {
        switch failure {
        case .full: Problem(.tooManyPhones)
        case .file(let error): Problem(.phoneNotSaved(fact: error.fact))
        }
    }
}
