import DiskCalls
import Dispatch
import Files
import Foundation
import PowerCuts
import Takes
import TestBench
import Testing

@testable import Console

@Suite(.waitsOnNamedThreads) struct PhoneBookTests {
    private let place = TestFolder()
    private var folder: String { place.path }
    private let noon = WallTime(iso8601: "2026-11-21T12:00:00.000000Z")!

    @Test func `a phone is known by its token after the book is opened again`() throws {
        let (book, problem) = PhoneBook.open(in: folder)
        #expect(problem == nil)
        let (phone, token) = try book.add(name: "Anna", now: noon)
        #expect(token.utf8.count == 64)
        let (again, _) = PhoneBook.open(in: folder)
        #expect(again.phone(token: token, now: noon) == phone)
        #expect(again.phone(token: String(token.reversed()), now: noon) == nil)
        #expect(again.phone(token: "", now: noon) == nil)
        let next = noon + .seconds(86400)
        #expect(again.phone(token: token, now: next)?.id == phone.id)
        again.noteVisits()
        #expect(PhoneBook.open(in: folder).0.phones.map(\.seen) == ["2026-11-22"])
    }

    @Test func `a phone that is renamed keeps its token, and the name is on the disk`() throws {
        let (book, _) = PhoneBook.open(in: folder)
        let (anna, token) = try book.add(name: "Anna", now: noon)
        _ = try book.add(name: "Ben", now: noon)
        #expect(try book.rename(anna.id, to: "Anna’s tablet") == anna)
        #expect(book.phone(token: token, now: noon)?.name == "Anna’s tablet")
        #expect(PhoneBook.open(in: folder).0.phones.map(\.name) == ["Anna’s tablet", "Ben"])
        #expect(try book.rename("stranger", to: "x") == nil)
        try FileManager.default.removeItem(atPath: folder)
        #expect(throws: FileError.self) { try book.rename(anna.id, to: "Anna") }
        #expect(book.phones.map(\.name) == ["Anna’s tablet", "Ben"])
    }

    @Test func `a book that is damaged is reported, and replaced by the next pairing`() throws {
        try Data("{".utf8).write(to: URL(filePath: "\(folder)/phones.json"))
        let (book, problem) = PhoneBook.open(in: folder)
        #expect(problem == "console: \(folder)/phones.json: cannot be used: all phones must be paired again")
        _ = try book.add(name: "Anna", now: noon)
        #expect(PhoneBook.open(in: folder).problem == nil)
    }

    @Test func `a phone that cannot be written is not paired`() throws {
        let (book, _) = PhoneBook.open(in: folder)
        try FileManager.default.removeItem(atPath: folder)
        #expect(throws: (any Error).self) { try book.add(name: "Anna", now: noon) }
        #expect(book.phones.isEmpty)
    }

    @Test func `a full book takes no phone, loses none, and has room again after one was removed`() throws {
        let (book, _) = PhoneBook.open(in: folder)
        for number in 0..<PhoneBook.mostPhones { _ = try book.add(name: "\(number)", now: noon) }
        let before = book.phones
        #expect(book.isFull)
        #expect {
            try book.add(name: "stranger", now: noon)
        } throws: { if case .full? = $0 as? PhoneBook.Failure { true } else { false } }
        #expect(book.phones == before && PhoneBook.open(in: folder).0.phones == before)
        #expect(try book.remove(before[7].id) == before[7])
        #expect(try book.remove(before[7].id) == nil)
        _ = try book.add(name: "Anna", now: noon)
        #expect(book.phones.count == PhoneBook.mostPhones && book.phones.last?.name == "Anna")
    }

    @Test func `a request does not wait while the storage hangs, and a pairing is not lost by the note of a visit`()
        throws
    {
        let calls = FaultyCalls(root: folder)
        let (book, _) = PhoneBook.open(in: folder, files: FileSystem(calls: calls))
        let (anna, token) = try book.add(name: "Anna", now: noon)
        let (hangs, goesOn, paired) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let isFirst = Locked(true)
        calls.setRefusal { verb, _ in
            guard verb == "write",
                isFirst.withLock({ first in
                    defer { first = false }; return first
                })
            else { return nil }
            hangs.signal()
            goesOn.wait()
            return nil
        }
        Thread.detachNewThread { [book, noon] in
            _ = try? book.add(name: "Ben", now: noon)
            paired.signal()
        }
        hangs.wait()
        #expect(book.phone(token: token, now: noon + .seconds(86400))?.id == anna.id)
        #expect(book.phones.map(\.name) == ["Anna"])
        goesOn.signal()
        paired.wait()
        book.noteVisits()
        #expect(book.phones.map(\.name) == ["Anna", "Ben"])
        #expect(PhoneBook.open(in: folder).0.phones.map(\.seen) == ["2026-11-22", "2026-11-21"])
    }
}
