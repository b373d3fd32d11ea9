import Control
import Digests
import HTTPTypes
import Library
import NIOPosix
import TakeFiles
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
        guard try await recorder.ask(.status)["pairing"]?.bool == true else { throw Self.closed }
        // Checked first, so that a correct code is not used up in vain.
        guard !phones.isFull else { throw Self.problem(.full) }
        guard let given = given.flatMap({ PairingCode($0.filter { $0 != " " }) }) else {
            throw Problem(
                .badRequest, .usage, "pair: code: give the six digits that the kit's label has, or 'fieldfare label'")
        }
        // Hashes are compared, so that the response time shows nothing about the code.
        let isRight = Digest.sha256(given.digits) == Digest.sha256(code.code.digits)
        switch PairingWindow.Answer(try await recorder.ask(.pairingCode(isRight: isRight))) {
        case .accepted: end.withLock { $0 = .paired }
        case .wrong(let left):
            news.reportWrongCode(from: address)
            throw Problem(
                .forbidden, .denied, "pair: the code is wrong: \(left) more wrong ones end pairing for all phones")
        case .lastWrong:
            end.withLock { $0 = .wrongCodes }
            news.reportWrongCode(from: address)
            throw Problem(
                .forbidden, .denied,
                "pair: \(PairingWindow.mostWrongCodes) codes were wrong: no phone can be paired until play is held on the kit again"
            )
        case .closed: throw Self.closed
        case nil:
            throw Problem(.internalServerError, .internal, "pair: the recorder does not know pairing codes: update it")
        }
    }

    private static let closed = Problem(
        .forbidden, .denied,
        "pair: the kit accepts no phone now: hold play on it for 3 seconds, until the upload lamp flickers, then try again"
    )

    private static func problem(_ failure: PhoneBook.Failure) -> Problem {
        switch failure {
        case .full:
            Problem(
                .conflict, .busy,
                "pair: \(PhoneBook.mostPhones) phones are paired, and no more can be: remove one on the page of a paired phone"
            )
        case .file(let error):
            Problem(.internalServerError, .io, "pair: \(error.fact): the phone is not paired")
        }
    }
}
