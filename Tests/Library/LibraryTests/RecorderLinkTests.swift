import Control
import DiskCalls
import FinishedTakes
import Takes
import Testing
import Transport

@testable import Library

@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(15))) struct RecorderLinkTests {
    private let disk = TakesOnDisk()
    private var path: String { "\(disk.path)/recorder.sock" }
    @Test func `what the outbox does is shown, once, and again to a recorder that was restarted`() async throws {
        let link = try RecorderLink(path: path)
        let running = Task { try await link.run() }
        defer { running.cancel() }
        var recorder = try DeskRecorder(path)
        link.show(.idle)
        link.show(.sending)
        #expect(await recorder.next() == .indicate(.sending))
        link.show(.sending)
        link.show(.refused(message: "outbox: full"))
        #expect(await recorder.next() == .indicate(.refused(message: "outbox: full")))
        recorder.stop()
        recorder = try DeskRecorder(path)
        defer { recorder.stop() }
        link.show(.refused(message: "outbox: full"))
        #expect(await recorder.next() == .indicate(.refused(message: "outbox: full")))
    }

    @Test func `a recorder that comes late is shown what holds then`() async throws {
        let link = try RecorderLink(path: path, pause: .milliseconds(1))
        let running = Task { try await link.run() }
        defer { running.cancel() }
        for _ in 1...100 { link.show(.sending) }
        link.show(.held)
        while await !link.isWaiting { await Task.yield() }
        let recorder = try DeskRecorder(path)
        defer { recorder.stop() }
        // Earlier states may still be in transit.
        for await message in recorder.received where message == .indicate(.held) { break }
    }

    @Test func `the space is the recorder's`() async throws {
        let link = try RecorderLink(path: path)
        #expect(await link.secondsLeft == nil)
        let recorder = try DeskRecorder(path)
        defer { recorder.stop() }
        #expect(await link.secondsLeft == 700)
    }

    @Test func `what is not on the disk yet is the recorder's, and nothing without one`() throws {
        let link = try RecorderLink(path: path)
        #expect(link.recording == SpectraGate.Recording.none)
        var recorder = try DeskRecorder(path)
        #expect(link.recording == SpectraGate.Recording.none)
        recorder.stop()
        recorder = try DeskRecorder(path, recorded: (elapsed: 12.5, synced: 9))
        #expect(link.recording == .unsynced(seconds: 3.5))
        recorder.stop()
    }
}
