import Deck
import Panel
import Testing
import Transport

/// Faults that other parts report to the deck.
@Suite struct ReportedFaultsTests {
    @Test func `takes that the store refuses are fault 6 until the library reports something else`() throws {
        let rig = try Rig()
        rig.deck.upload = .refused(message: "upload: s3: no such bucket")
        #expect(rig.deck.status.faults == [Fault(.uploadRefused, "upload: s3: no such bucket")])
        #expect(rig.deck.indication.faults == [.uploadRefused])
        #expect(rig.deck.indication.upload == .refused(message: "upload: s3: no such bucket"))
        rig.deck.upload = .refused(message: "upload: s3: denied")
        #expect(rig.deck.status.faults == [Fault(.uploadRefused, "upload: s3: denied")])
        rig.deck.upload = .sending
        #expect(rig.deck.status.faults == [])
    }

    @Test func `takes that are damaged are fault 4 until the library reports that none is`() throws {
        let rig = try Rig()
        let damaged = Fault(
            .storageFailing, "takes: heron07-0042-061811Z: its sound is damaged", about: .damagedTakes)
        rig.deck.damagedTakes = damaged.message
        #expect(rig.deck.status.faults == [damaged])
        #expect(rig.deck.indication.faults == [.storageFailing])
        // It is shown together with a fault of the outbox.
        rig.deck.upload = .refused(message: "upload: s3: denied")
        #expect(rig.deck.status.faults == [damaged, Fault(.uploadRefused, "upload: s3: denied")])
        rig.deck.upload = .idle
        #expect(rig.deck.status.faults == [damaged])
        rig.deck.damagedTakes = nil
        #expect(rig.deck.status.faults == [])
    }

    @Test func `the panel's faults stand beside those of the settings until the panel reports others`() throws {
        let bad = Fault(.settings, "fieldfare.toml: 1: bad")
        let storm = Fault(.settings, "buttons: record: 200 edges")
        let rig = try Rig { $0.faults = [bad] }
        rig.deck.panel(has: [storm])
        #expect(Set(rig.deck.status.faults) == [bad, storm])
        rig.deck.panel(has: [])
        #expect(rig.deck.status.faults == [bad])
    }

    @Test func `while record does not open the kit is not armed, and what else asks for a take gets one`() throws {
        let closed = Fault(.settings, "buttons: record: line GPIO17 is closed")
        let rig = try Rig()
        rig.run(.seconds(1))
        #expect(rig.deck.isArmed)
        rig.deck.panel(has: [closed], closed: [.record])
        #expect(!rig.deck.isArmed && !rig.deck.status.armed && !rig.deck.indication.isArmed)
        #expect(rig.deck.status.faults == [closed] && rig.deck.summary.hasPrefix("idle; fault 7"))
        #expect(rig.deck.canRecord)
        rig.deck.perform(.record, by: .schedule) { _ in }
        rig.run(.seconds(1))
        #expect(rig.deck.state == .recording)
        rig.press(.stop)
        rig.settle()
        rig.deck.panel(has: [])
        #expect(rig.deck.isArmed && rig.deck.status.faults == [])
    }

    @Test func `another button that does not open is a fault, and record works`() throws {
        let rig = try Rig()
        rig.run(.seconds(1))
        rig.deck.panel(has: [Fault(.settings, "buttons: play: line GPIO22 is closed")], closed: [.play])
        #expect(rig.deck.isArmed && rig.deck.status.faults.count == 1)
    }
}
