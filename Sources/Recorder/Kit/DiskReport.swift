import FoundationEssentials

/// The part of smartctl(8)'s JSON report on a disk that the history stores.
struct DiskReport: Equatable {
    /// Share of its rated life that the disk has used, in percent. It may exceed 100. Nil if the disk does not report
    /// it.
    var usedPercent: Int?
    /// The disk's own health verdict, or nil if it does not report one.
    var isHealthy: Bool?

    /// Returns nil if the text is not such a report, or has neither value.
    init?(json: String) {
        guard let report = try? JSONDecoder().decode(Report.self, from: Data(json.utf8)) else { return nil }
        let statistics = report.statistics?.pages.flatMap { $0.table ?? [] }
        let used =
            report.endurance?.percent ?? report.nvme?.percent
            ?? statistics?.first { $0.name == "Percentage Used Endurance Indicator" }?.value
        // Both standards (NVM Express, ATA ACS-3) store it in one byte, so a larger value is damaged.
        usedPercent = used.flatMap { (0...255).contains($0) ? $0 : nil }
        isHealthy = report.status?.passed
        if usedPercent == nil && isHealthy == nil { return nil }
    }

    private struct Report: Decodable {
        var status: Status?
        /// Since smartmontools 7.4.
        var endurance: Endurance?
        var nvme: NVMe?
        var statistics: Statistics?

        enum CodingKeys: String, CodingKey {
            case status = "smart_status"
            case endurance = "endurance_used"
            case nvme = "nvme_smart_health_information_log"
            case statistics = "ata_device_statistics"
        }
    }

    private struct Status: Decodable { var passed: Bool? }

    private struct Endurance: Decodable {
        var percent: Int?
        enum CodingKeys: String, CodingKey { case percent = "current_percent" }
    }

    private struct NVMe: Decodable {
        var percent: Int?
        enum CodingKeys: String, CodingKey { case percent = "percentage_used" }
    }

    private struct Statistics: Decodable {
        struct Page: Decodable { var table: [Entry]? }
        struct Entry: Decodable { var name: String?; var value: Int? }
        var pages: [Page]
    }
}
